import { Effect, Option } from "effect"
import { fileTypeFromBuffer } from "file-type"

/** How many bytes of the beginning of a file are read. */
export const headLength = 4100

// What may stand before the root element. Each piece can be read in one way only, so that no text makes this slow.
const drawing = /^\uFEFF?(?:\s|<\?[^>]*>|<!--(?:(?!-->)[^])*-->)*<(?:!DOCTYPE\s+)?svg[\s>]/

const isDrawing = (head: Uint8Array) => drawing.test(new TextDecoder().decode(head))

/** Types whose files can be text, and begin with more than letters that other texts begin with. */
const textual = /^text\/|^application\/(?:eps|pdf|pgp-encrypted|rtf|x-ms-regedit|xml)$/

// The last character may be cut.
const decoded = Option.liftThrowable((head: Uint8Array) =>
  new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true })
)

const isText = (head: Uint8Array) => Option.exists(decoded(head), (text) => !/[^\P{Cc}\t\n\r]/u.test(text))

/** Windows reads the offset of the four bytes that begin the header of a program here, and takes one below 256 MiB only. */
const hasProgramHeader = (head: Uint8Array, size: number) => {
  if (head.length < 64) return false
  const offset = new DataView(head.buffer, head.byteOffset).getUint32(60, true)
  return offset < 0x1000_0000 && offset + 4 <= size
}

/** Whether the bytes are text that only begins as files of the type do, such as a table with the column `MZ`. */
const isCoincidence = (type: string, head: Uint8Array, size: number) =>
  !textual.test(type) && isText(head) && !(type === "application/x-msdownload" && hasProgramHeader(head, size))

/**
 * The MIME type of a file by its first bytes and its size; undefined if they do not determine it, as for text of any kind.
 * The name and the declared type are not used.
 */
export const sniff = (bytes: Uint8Array, size: number): Effect.Effect<string | undefined> => {
  const head = bytes.subarray(0, headLength)
  return isDrawing(head)
    ? Effect.succeed("image/svg+xml")
    : Effect.tryPromise(() => fileTypeFromBuffer(head)).pipe(
        // Without codecs, because types are compared.
        Effect.map((type) => type?.mime.split(";", 1)[0]),
        Effect.map((type) => (type === undefined || isCoincidence(type, head, size) ? undefined : type)),
        // Malformed content can yield texts that are no type.
        Effect.orElseSucceed(() => undefined)
      )
}

/** Types that browsers show without running code. */
const shown: ReadonlySet<string> = new Set([
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
  "image/avif",
  "application/pdf"
])

/** Whether a sniffed type is served inline; every other type is served as a download. */
export const isInline = (mimeType: string): boolean => shown.has(mimeType)
