import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import sharp from "sharp"
import { fileKind } from "../../src/media/FileKind.ts"
import { Renderer } from "../../src/media/Renderer.ts"
import { assertColor, assertImages, colorAt, decoders, every, rendererLayer } from "./Rendering.ts"

const kinds = {
  document: ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", ""],
  sheet: ["application/zip", "xlsx"],
  presentation: ["application/x-cfb", "ppt"],
  pdf: ["application/pdf", "pdf"],
  text: ["text/plain", "md"],
  image: ["image/heic", ""],
  vector: ["image/svg+xml", "xml"],
  design: ["image/vnd.adobe.photoshop", "psd"],
  model: ["application/octet-stream", "STEP"],
  audio: ["audio/mpeg", "mp3"],
  video: ["video/mp4", "mp4"],
  font: ["font/woff2", "woff2"],
  code: ["text/plain", "ts"],
  archive: ["application/zip", "zip"],
  other: ["application/octet-stream", "constructor"]
} as const

describe("file kinds", () => {
  for (const [kind, [mimeType, extension]] of Object.entries(kinds))
    it(`extension ${extension || "(none)"} with type ${mimeType} is kind ${kind}`, () => {
      assert.strictEqual(fileKind({ mimeType, extension }), kind)
    })

  it("the detected type takes precedence over the extension, unless it is ambiguous", () => {
    assert.strictEqual(fileKind({ mimeType: "video/mp4", extension: "jpg" }), "video")
    assert.strictEqual(fileKind({ mimeType: "application/zip", extension: "" }), "archive")
    assert.strictEqual(fileKind({ mimeType: "text/plain", extension: "" }), "text")
    assert.strictEqual(fileKind({ mimeType: "", extension: "" }), "other")
  })
})

layer(rendererLayer(), { excludeTestServices: true })("icons", (it) => {
  it.effect(
    "icons are squares in all sizes and formats, with a distinct icon for each kind and a transparent border",
    () =>
      Effect.gen(function* () {
        const renderer = yield* Renderer
        const images = yield* Effect.forEach(every, (wanted) =>
          renderer.icon({ mimeType: "", extension: "docx" }, wanted)
        )
        yield* assertImages(images, every)
        const sides = yield* Effect.forEach(images, (image) => Effect.promise(() => sharp(image).metadata()))
        assert.deepStrictEqual(
          sides.map(({ width }) => width),
          [1200, 1200, 300, 300]
        )
        assert.deepStrictEqual(
          sides.map(({ height }) => height),
          [1200, 1200, 300, 300]
        )
        assert.strictEqual((yield* colorAt(images[0]!, 0.02, 0.02))[3], 0)
        assertColor(yield* colorAt(images[1]!, 0.02, 0.02), [255, 255, 255])
        assertColor(yield* colorAt(images[1]!, 0.3, 0.2), [47, 111, 222])
        const seen = new Set<string>()
        for (const [mimeType, extension] of Object.values(kinds)) {
          const icon = yield* renderer.icon({ mimeType, extension }, { size: "thumbnail", format: "webp" })
          seen.add(Buffer.from(icon).toString("base64"))
        }
        assert.strictEqual(seen.size, Object.keys(kinds).length)
      })
  )

  it.effect("icons are rendered once and cached", () =>
    Effect.gen(function* () {
      const renderer = yield* Renderer
      const wanted = () => ({ size: "thumbnail", format: "webp" }) as const
      const first = yield* renderer.icon({ mimeType: "application/zip", extension: "zip" }, wanted())
      process.kill(decoders()[0]!.pid, "SIGSTOP")
      assert.strictEqual(yield* renderer.icon({ mimeType: "application/x-tar", extension: "tar" }, wanted()), first)
    })
  )
})
