import { Effect } from "effect"
import { maxParts } from "../domain/assets/Upload.ts"
import { InvalidPartsError, type StoredPart } from "./Storage.ts"

export type ListedPart = Pick<StoredPart, "partNumber" | "eTag">

export const isPartNumber = (number: number): boolean => Number.isInteger(number) && number >= 1 && number <= maxParts

const printable = /^[\x21\x23-\x7e]{1,200}$/

/** Rejects lists that no store accepts: no parts, parts out of order or repeated, invalid numbers and tags. */
export const checkParts = (parts: ReadonlyArray<ListedPart>): Effect.Effect<void, InvalidPartsError> => {
  if (parts.length === 0) return invalid("An upload needs at least one part")
  const wrong = parts.find(({ eTag, partNumber }) => !isPartNumber(partNumber) || !printable.test(eTag))
  if (wrong !== undefined) return invalid(`There is no part ${wrong.partNumber} with the entity tag ${wrong.eTag}`)
  const ascending = parts.every(({ partNumber }, index) => index === 0 || partNumber > parts[index - 1]!.partNumber)
  return ascending ? Effect.void : invalid("List the parts by number, each of them once")
}

const invalid = (message: string) => Effect.fail(new InvalidPartsError({ message }))

export const missingPart = ({ eTag, partNumber }: ListedPart): InvalidPartsError =>
  new InvalidPartsError({ message: `Part ${partNumber} with the entity tag ${eTag} has not arrived` })

export const unknownUpload = new InvalidPartsError({
  message: "The store no longer has the upload or its parts"
})
