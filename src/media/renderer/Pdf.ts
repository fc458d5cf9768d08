import { Effect, type FileSystem } from "effect"
import { attempt, bytesOf, type Drawing, Refused } from "./Drawing.ts"

/** The first page, drawn at the longest side. The build has no script engine. */
export const firstPage = Effect.fnUntraced(function* (
  path: string,
  longestSide: number
): Effect.fn.Return<Drawing, Refused, FileSystem.FileSystem> {
  const bytes = yield* bytesOf("pdf", path)
  // Its memory only grows, so every document gets an instance of its own.
  const library = yield* Effect.promise(() =>
    import("@hyzyla/pdfium").then(({ PDFiumLibrary }) => PDFiumLibrary.init())
  )
  const page = yield* attempt(() => library.loadDocument(bytes).then((document) => document.getPage(0)))
  const { originalHeight, originalWidth } = page.getOriginalSize()
  if (!(originalWidth > 0 && originalHeight > 0)) return yield* new Refused({ reason: "there is no page in it" })
  const scale = longestSide / Math.max(originalWidth, originalHeight)
  const { data, height, width } = yield* attempt(() =>
    page.render({
      width: Math.max(originalWidth * scale, 1),
      height: Math.max(originalHeight * scale, 1),
      render: "bitmap"
    })
  )
  return { pixels: data, size: { width, height, channels: 4 }, original: {} }
})
