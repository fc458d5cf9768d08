import type { Issue } from "../domain/write/RequestErrors.ts"
import type { StoredPart } from "../storage/Storage.ts"

interface SentPart {
  readonly partNumber: number
  readonly eTag: string
}

/** The problems of the parts of a completion, compared with the stored parts; empty when they make the file. */
export const problemsOf = (
  sent: ReadonlyArray<SentPart>,
  stored: ReadonlyArray<StoredPart>,
  upload: { readonly fileSize: number; readonly numberOfParts: number }
): ReadonlyArray<Issue> => {
  const arrived = new Map(stored.map((part) => [part.partNumber, part]))
  const numbers = new Set(sent.map(({ partNumber }) => partNumber))
  const issue = (path: string, code: string, message: string): Issue => ({ in: "body", path, code, message })
  const seen = new Set<number>()
  const ofParts = sent.flatMap(({ eTag, partNumber }, index) => {
    const path = `parts.${index}`
    if (seen.has(partNumber)) return [issue(`${path}.partNumber`, "givenTwice", `Part ${partNumber} is listed twice`)]
    seen.add(partNumber)
    if (partNumber > upload.numberOfParts)
      return [issue(`${path}.partNumber`, "outOfRange", `This upload has at most ${upload.numberOfParts} parts`)]
    const part = arrived.get(partNumber)
    if (part === undefined)
      return [issue(`${path}.partNumber`, "unknownPart", `Part ${partNumber} has not arrived; PUT it to its url first`)]
    return part.eTag === eTag
      ? []
      : [issue(`${path}.eTag`, "mismatch", `Part ${partNumber} arrived with the ETag "${part.eTag}"`)]
  })
  if (ofParts.length > 0) return ofParts.slice(0, 20)
  const missing = Array.from({ length: numbers.size }, (_, index) => index + 1).find((number) => !numbers.has(number))
  if (missing !== undefined)
    return [issue("parts", "missingPart", `Part ${missing} is missing; number the parts from 1 without gaps`)]
  const size = sent.reduce((sum, { partNumber }) => sum + (arrived.get(partNumber)?.size ?? 0), 0)
  return size === upload.fileSize
    ? []
    : [issue("parts", "wrongSize", `The parts have ${size} bytes together; fileSize is ${upload.fileSize}`)]
}

/** Whether a list of media types has a type; `text/*` matches every text type. */
export const isBlocked = (mimeType: string, blocked: ReadonlyArray<string>): boolean => {
  const type = mimeType.toLowerCase()
  return blocked.some((entry) => (entry.endsWith("/*") ? type.startsWith(entry.slice(0, -1)) : type === entry))
}

/** Types without magic bytes. An unrecognised file of any other type does not have its declared type. */
const unrecognisable = /^(?:text|application|font|model)\/|^image\/svg\+xml$/

/** The containers whose first bytes may not say what they contain, with the declared types that they can be. */
const containers: ReadonlyMap<string, RegExp> = new Map([
  ["application/xml", /xml$/],
  ["application/zip", /^application\/(?:epub\+zip$|vnd\.(?:ms-|oasis\.opendocument\.|openxmlformats-))/],
  // Also the documents that Office encrypts.
  ["application/x-cfb", /^application\/(?:msword$|vnd\.(?:ms-|openxmlformats-))/]
])

/** The type of a file by its bytes; the declared type counts only for types without magic bytes, and for what a container has. */
export const typeOf = (sniffed: string | undefined, declared: string): string => {
  if (sniffed !== undefined && !containers.get(sniffed)?.test(declared)) return sniffed
  return unrecognisable.test(declared) && declared !== "application/pdf" ? declared : "application/octet-stream"
}
