import { Effect, Stream } from "effect"
import iconv from "iconv-lite"
import { sampleSize, unicodeOf } from "../../domain/files/Encodings.ts"
import { FormatError } from "./Row.ts"

/** Whether `--encoding` takes the name. */
export const isKnown = (name: string): boolean => iconv.encodingExists(name)

/** The name of an encoding as messages show it. */
export const shown = (encoding: string): string =>
  encoding === "windows-1252" ? "Windows-1252" : encoding.toUpperCase()

const unicode = new Set(["utf-8", "utf-16le", "utf-16be"])

const canonical = (name: string) => {
  const lower = name.toLowerCase().replaceAll("_", "-")
  const known = [...unicode].find((candidate) => candidate.replaceAll("-", "") === lower.replaceAll("-", ""))
  return known ?? lower
}

/** Feeds chunks to a decoder that fails at the first byte that is not UTF-8. */
const utf8Check = () => {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let isValid = true
  const feed = (chunk?: Uint8Array) => {
    if (!isValid) return
    try {
      decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      isValid = false
    }
  }
  return { feed, isValid: () => isValid }
}

/**
 * The encoding of text: by its mark, by the zeros of UTF-16, UTF-8 if all bytes are valid UTF-8, otherwise Windows-1252. One
 * letter of Windows-1252 can look like UTF-8, a whole text cannot, so the caller passes the whole file where it can.
 */
export const detect = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>, { isWhole }: { readonly isWhole: boolean }) =>
  Effect.suspend(() => {
    let sample = new Uint8Array(0)
    let unicodeName: string | undefined
    const check = utf8Check()
    const feed = (chunk: Uint8Array) => {
      if (sample.length < sampleSize) {
        sample = Buffer.concat([sample, chunk.subarray(0, sampleSize - sample.length)])
        unicodeName = unicodeOf(sample)
      }
      check.feed(chunk)
    }
    const isDecided = () => !check.isValid() && sample.length >= sampleSize
    return Effect.map(
      bytes.pipe(
        Stream.tap((chunk) => Effect.sync(() => feed(chunk))),
        Stream.takeUntil(isDecided),
        Stream.runDrain
      ),
      () => {
        if (isWhole) check.feed()
        return unicodeName ?? (check.isValid() ? "utf-8" : "windows-1252")
      }
    )
  })

interface Decoder {
  readonly write: (chunk: Uint8Array) => string
  readonly end: () => string
}

const unicodeDecoder = (encoding: string): Decoder => {
  const decoder = new TextDecoder(encoding, { fatal: true })
  return { write: (chunk) => decoder.decode(chunk, { stream: true }), end: () => decoder.decode() }
}

const replacement = "\uFFFD"

const strict = (text: string) => {
  if (text.includes(replacement)) throw new Error("A byte has no character")
  return text
}

/** Node's decoder takes Windows-1252 for Latin-1 in some versions. */
const otherDecoder = (encoding: string): Decoder => {
  const decoder = iconv.getDecoder(encoding)
  return { write: (chunk) => strict(decoder.write(Buffer.from(chunk))), end: () => strict(decoder.end() ?? "") }
}

/** Decodes text, and fails at the first bytes that the encoding does not have: replacing them would damage letters. */
export const decode =
  (name: string) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<string, E | FormatError, R> =>
    Stream.suspend(() => {
      const encoding = canonical(name)
      const decoder = unicode.has(encoding) ? unicodeDecoder(encoding) : otherDecoder(encoding)
      const attempt = (read: () => string) =>
        Effect.try({
          try: read,
          catch: () =>
            new FormatError({
              message: `The file is not ${shown(encoding)} throughout; set --encoding, for example windows-1252 or macintosh`
            })
        })
      return Stream.concat(
        Stream.mapEffect(bytes, (chunk) => attempt(() => decoder.write(chunk))),
        Stream.fromEffect(Effect.suspend(() => attempt(decoder.end)))
      )
    })
