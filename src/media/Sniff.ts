import { Effect } from "effect"
import { fileTypeFromBuffer } from "file-type"

/** How many bytes of the beginning of a file are looked at. */
export const headLength = 4100

// What may stand before the root element. Each piece can be read in one way only, so that no text makes this slow.
const drawing = /^\uFEFF?(?:\s|<\?[^>]*>|<!--(?:(?!-->)[^])*-->)*<(?:!DOCTYPE\s+)?svg[\s>]/

const isDrawing = (head: Uint8Array) => drawing.test(new TextDecoder().decode(head))

/**
 * The MIME type of a file by its first bytes; undefined when they do not tell, which for text of any kind is on purpose.
 * Neither the name nor what the client says is asked.
 */
export const sniff = (bytes: Uint8Array): Effect.Effect<string | undefined> => {
  const head = bytes.subarray(0, headLength)
  return isDrawing(head)
    ? Effect.succeed("image/svg+xml")
    : Effect.tryPromise(() => fileTypeFromBuffer(head)).pipe(
        // Without the codecs it names now and then: a type is compared and not only shown.
        Effect.map((type) => type?.mime.split(";", 1)[0]),
        // Whatever a parser makes of rubbish, it is not a type.
        Effect.orElseSucceed(() => undefined)
      )
}

/** What browsers show without running anything. */
const shown: ReadonlySet<string> = new Set([
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
  "image/avif",
  "application/pdf"
])

/** Whether a sniffed type may be answered for display; everything else is only ever a download. */
export const isInline = (mimeType: string): boolean => shown.has(mimeType)
