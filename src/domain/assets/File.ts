import { Schema, SchemaTransformation } from "effect"
import { ApiError } from "../write/ApiError.ts"
import { documented, matching } from "../schema/Checks.ts"
import { text, Uuid } from "../schema/Fields.ts"
import { signed } from "../query/FilterFields.ts"
import { allNotFound, manyNotFoundError, notFound } from "../write/NotFound.ts"

export const FileId = Uuid.pipe(Schema.brand("FileId"))
export type FileId = typeof FileId.Type

/** An address under which a file is read without a key until the signature expires. */
export const SignedUrl = Schema.String.annotate({ [signed]: true })

export const FileUrls = Schema.Struct({
  original: SignedUrl,
  thumbnail: SignedUrl,
  preview: SignedUrl,
  cdnUrl: SignedUrl
}).annotate({
  identifier: "FileUrls",
  description:
    "Signed addresses that need no key and hold for at least seven days; read the record again for fresh ones."
})

/** A file that was never uploaded, or not by a key that may know of it. */
export class FileNotFoundError extends ApiError<FileNotFoundError>()(...manyNotFoundError("FileNotFoundError")) {
  static of = (uuid: string) => new FileNotFoundError(notFound("file or upload", uuid))
  static ofAll = (uuids: ReadonlyArray<string>) => new FileNotFoundError(allNotFound("file", uuids))
}

/**
 * Invisible characters, and marks that turn the text after them around: with one, a name that ends in `exe.gpj` reads as
 * `jpg.exe`. The joiners U+200C and U+200D are spelling, of Persian and of emoji.
 */
const invisible = /[\u00AD\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF]/

/** The name people know a file by; never part of where it is stored. */
export const FileName = text(255, { form: { pattern: "^[^/\\\\]+$" } })
  .check(
    Schema.makeFilter<string>((name) => !/[/\\]/.test(name) && !invisible.test(name) && name !== "." && name !== "..", {
      expected: "a file name without path separators, invisible characters or marks of text direction",
      code: "invalidCharacters"
    })
  )
  .pipe(Schema.annotateEncoded({ examples: ["summer-sale-poster.pdf"] }))

/** SHA-256 of the bytes, 64 hexadecimal digits; stored and answered in lower case. */
export const Sha256 = Schema.String.check(documented({ pattern: "^[0-9A-Fa-f]{64}$" })).pipe(
  Schema.decodeTo(
    Schema.String.check(matching(/^[0-9a-f]{64}$/, "a SHA-256 of 64 hexadecimal digits")),
    SchemaTransformation.toLowerCase()
  ),
  Schema.annotateEncoded({ examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"] })
)

/** The part after the last dot in lower case, at most 16 letters and digits; empty when there is none, or nothing before it. */
export const extensionOf = (fileName: string): string => {
  const dot = fileName.lastIndexOf(".")
  const extension = fileName.slice(dot + 1)
  return /[^.]/.test(fileName.slice(0, Math.max(dot, 0))) && /^[a-z0-9]{1,16}$/i.test(extension)
    ? extension.toLowerCase()
    : ""
}

/** The name without its extension. */
export const stemOf = (fileName: string): string => {
  const extension = extensionOf(fileName)
  return extension === "" ? fileName : fileName.slice(0, -extension.length - 1)
}

const longestAddress = 1024

/** The name as an address shows it: whole, or the end of one that an address could not hold. */
export const pathNameOf = (fileName: string): string => {
  const characters = Array.from(fileName)
  while (encodeURIComponent(characters.join("")).length > longestAddress) characters.shift()
  return characters.join("")
}

/** Where the bytes of a file are; spread over folders by the random end of its uuid. */
export const storageKey = (uuid: string, prefix = ""): string =>
  `${uuid.slice(-4, -2)}/${uuid.slice(-2)}/${prefix}${uuid}`
