import { Effect, Option } from "effect"
import mime from "mime-types"
import { headLength, sniff } from "../../media/Sniff.ts"
import * as LocalFile from "./LocalFile.ts"

const isMedia = /^(?:video|audio|application\/mp4)/

/** The types whose files always begin in a known way, with what the content of such a file may be detected as. */
const contents: Readonly<Record<string, RegExp>> = {
  "image/jpeg": /^image\/jpeg$/,
  "image/png": /^image\/a?png$/,
  "image/gif": /^image\/gif$/,
  "image/webp": /^image\/webp$/,
  "image/avif": /^image\/(?:avif|hei[cf])/,
  "image/heic": /^image\/(?:avif|hei[cf])/,
  "image/tiff": /^image\//,
  "image/svg+xml": /^(?:image\/svg\+xml|application\/gzip)$/,
  "application/pdf": /^application\/(?:pdf|illustrator|postscript)$/,
  "application/zip": /./,
  "video/mp4": isMedia,
  "video/quicktime": isMedia,
  "video/webm": isMedia
}

/**
 * What is wrong with the name of a file, when its content is of another type: an image that is none has no thumbnail.
 * Types that are not certain by their first bytes, such as text, are not compared.
 */
export const contradiction = Effect.fnUntraced(function* (file: LocalFile.LocalFile) {
  const named = mime.lookup(file.name)
  const expected = named === false || !Object.hasOwn(contents, named) ? undefined : contents[named]
  if (expected === undefined) return Option.none<string>()
  const found = yield* sniff(new Uint8Array(yield* LocalFile.head(file, headLength)), file.size)
  if (found !== undefined && expected.test(found)) return Option.none<string>()
  return Option.some(`the name says ${String(named)}, the content is ${found ?? "not of that type"}`)
})
