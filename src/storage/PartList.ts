import { Effect } from "effect"
import { InvalidPartsError, type StoredPart } from "./Storage.ts"

export type ListedPart = Pick<StoredPart, "partNumber" | "eTag">

/** As many as S3 allows. */
const maxParts = 10_000

export const isPartNumber = (number: number): boolean => Number.isInteger(number) && number >= 1 && number <= maxParts

const printable = /^[\x21\x23-\x7e]{1,200}$/

/** What no store accepts, said without asking it: no parts, parts out of order or twice, impossible numbers and tags. */
export const checkParts = (parts: ReadonlyArray<ListedPart>): Effect.Effect<void, InvalidPartsError> => {
  if (parts.length === 0) return refuse("An upload is made of at least one part")
  const wrong = parts.find(({ eTag, partNumber }) => !isPartNumber(partNumber) || !printable.test(eTag))
  if (wrong !== undefined) return refuse(`There is no part ${wrong.partNumber} with the entity tag ${wrong.eTag}`)
  const ascending = parts.every(({ partNumber }, index) => index === 0 || partNumber > parts[index - 1]!.partNumber)
  return ascending ? Effect.void : refuse("Parts are listed by number, each of them once")
}

const refuse = (message: string) => Effect.fail(new InvalidPartsError({ message }))

export const missingPart = ({ eTag, partNumber }: ListedPart): InvalidPartsError =>
  new InvalidPartsError({ message: `Part ${partNumber} with the entity tag ${eTag} has not arrived` })

export const unknownUpload = new InvalidPartsError({
  message: "The upload is not known to the store any more, so its parts are gone"
})
