import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import sharp from "sharp"
import { NotRenderableError, Renderer } from "../../src/media/Renderer.ts"
import { pdf } from "../support/MediaFixtures.ts"
import { assertColor, assertImages, colorAt, decoderMillis, every, render, rendererLayer } from "./Rendering.ts"

const type = "application/pdf"
const sizeOf = (image: Uint8Array) =>
  Effect.promise(() =>
    sharp(image)
      .metadata()
      .then(({ height, width }) => [width, height] as const)
  )

layer(rendererLayer(), { excludeTestServices: true })("rendering of documents (PDF)", (it) => {
  it.effect("a PDF renders its first page on white, scaled to the image size", () =>
    Effect.gen(function* () {
      const { images, ...original } = yield* render(pdf(), type, every)
      assert.deepStrictEqual(original, {}, "a page has no pixel dimensions")
      yield* assertImages(images, every)
      assert.deepStrictEqual(yield* Effect.forEach(images, sizeOf), [
        [1200, 800],
        [1200, 800],
        [300, 200],
        [300, 200]
      ])
      for (const image of images) {
        assertColor((yield* colorAt(image, 0.25, 0.5)).slice(0, 3), [255, 0, 0])
        assertColor((yield* colorAt(image, 0.75, 0.5)).slice(0, 3), [255, 255, 255])
      }
    })
  )

  it.effect("a PDF page with /Rotate is rotated", () =>
    Effect.gen(function* () {
      const { images } = yield* render(pdf({ page: "/MediaBox [0 0 600 400] /Rotate 90" }), type, every)
      assert.deepStrictEqual(yield* sizeOf(images[0]!), [800, 1200])
      assertColor(yield* colorAt(images[1]!, 0.5, 0.25), [255, 0, 0])
      assertColor(yield* colorAt(images[1]!, 0.5, 0.75), [255, 255, 255])
    })
  )

  const boxes = {
    "a huge page": ["[0 0 1000000000 1000000000]", [1200, 1200]],
    "a page that is a line": ["[0 0 1000000 1]", [1200, 1]],
    "a tiny page": ["[0 0 0.01 0.01]", undefined],
    "a page with swapped corners": ["[600 400 0 0]", [1200, 800]],
    "a page without a size": ["[0 0 0 0]", undefined]
  } as const
  for (const [title, [box, size]] of Object.entries(boxes))
    it.effect(`a PDF with ${title} renders in bounded time and size`, () =>
      Effect.gen(function* () {
        yield* render(pdf(), type)
        const before = decoderMillis()
        const { images } = yield* render(pdf({ page: `/MediaBox ${box}` }), type)
        assert.isBelow(decoderMillis() - before, 5000)
        const [width, height] = yield* sizeOf(images[0]!)
        assert.isAtMost(Math.max(width, height), 1200)
        if (size !== undefined) assert.deepStrictEqual([width, height], [...size])
      })
    )

  it.effect("scripts in a PDF are not executed", () =>
    Effect.gen(function* () {
      const script = "<< /S /JavaScript /JS (while\\(true\\){}; app.launchURL\\('http://127.0.0.1/'\\)) >>"
      const { images } = yield* render(pdf({ catalog: `/OpenAction ${script} /AA << /WC ${script} >>` }), type)
      assertColor((yield* colorAt(images[0]!, 0.25, 0.5)).slice(0, 3), [255, 0, 0])
    })
  )

  const locked = pdf()
    .toString("latin1")
    .replace(
      "/Root 1 0 R",
      `/Root 1 0 R /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <${"a5".repeat(32)}> /U <${"5a".repeat(32)}> >> /ID [<00> <00>]`
    )
  const invalid = {
    "a password": Buffer.from(locked, "latin1"),
    "no pages": Buffer.from(
      pdf().toString("latin1").replace("/Kids [3 0 R] /Count 1", "/Kids [     ] /Count 0"),
      "latin1"
    ),
    "truncated content": pdf().subarray(0, 120),
    "only the header": Buffer.from("%PDF-1.7\n"),
    "more than 100 MiB": Buffer.concat([pdf(), Buffer.alloc(101 * 1024 * 1024)])
  }
  for (const [title, document] of Object.entries(invalid))
    it.effect(`a PDF with ${title} is rejected`, () =>
      Effect.gen(function* () {
        assert.instanceOf(yield* Effect.flip(render(document, type)), NotRenderableError)
      })
    )

  it.effect("a PDF with more than 100 MiB, and a drawing with more than 8 MiB, are rejected before they are read", () =>
    Effect.gen(function* () {
      const renderer = yield* Renderer
      for (const [mimeType, mebibytes] of [
        [type, 100],
        ["image/svg+xml", 8]
      ] as const) {
        const size = mebibytes * 1024 * 1024
        yield* renderer.check({ mimeType, size })
        const error = yield* Effect.flip(renderer.check({ mimeType, size: size + 1 }))
        assert.instanceOf(error, NotRenderableError)
        assert.include(error.message, `${mebibytes} MiB`)
      }
    })
  )
})
