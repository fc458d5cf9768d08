import { Effect } from "effect"
import { fileTypeFromBuffer } from "file-type"

/** How many bytes of the beginning of a file are read. */
export const headLength = 4100

// What may stand before the root element. Each piece can be read in one way only, so that no text makes this slow.
const drawing = /^\uFEFF?(?:\s|<\?[^>]*>|<!--(?:(?!-->)[^])*-->)*<(?:!DOCTYPE\s+)?svg[\s>]/

const isDrawing = (head: Uint8Array) => drawing.test(new TextDecoder().decode(head))

/**
 * The MIME type of a file by its first bytes; undefined if they do not determine it, as for text of any kind. The name and
 * the declared type are not used.
 */
export const sniff = (bytes: Uint8Array): Effect.Effect<string | undefined> => {
  const head = bytes.subarray(0, headLength)
  return isDrawing(head)
    ? Effect.succeed("image/svg+xml")
    : Effect.tryPromise(() => fileTypeFromBuffer(head)).pipe(
        // Without codecs, because types are compared.
        Effect.map((type) => type?.mime.split(";", 1)[0]),
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
