import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { NotRenderableError } from "../../src/media/Renderer.ts"
import { memoryOf } from "../support/Services.ts"
import { blackPng, largeAvif, noise, pdf, quarters, nonImages, svg } from "../support/MediaFixtures.ts"
import {
  assertImages,
  decoderMillis,
  decoders,
  isAlive,
  limitedRenderer,
  preview,
  render,
  rendererLayer
} from "./Rendering.ts"

const assertRejected = (bytes: Parameters<typeof render>[0], mimeType: string) =>
  Effect.map(Effect.flip(render(bytes, mimeType)), (error) => {
    assert.instanceOf(error, NotRenderableError)
    assert.notInclude(error.message, "waypost-source", "the message discloses the path of the file")
    return error.message
  })

layer(rendererLayer(), { excludeTestServices: true })("files that do not match their type", (it) => {
  it.effect("unsupported types are rejected without starting a process", () =>
    Effect.gen(function* () {
      for (const type of ["application/zip", "image/heic", "text/html", "audio/mpeg", "", "constructor"])
        assert.include(yield* assertRejected(Buffer.from("?"), type), "not drawn")
      assert.deepStrictEqual(decoders(), [])
    })
  )

  const types = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/tiff", "image/avif"]
  for (const [title, bytes] of Object.entries(nonImages))
    it.effect(`${title} is rejected as a picture of every type`, () =>
      Effect.forEach(types, (type) => assertRejected(bytes, type))
    )

  it.effect("a picture is only decoded as its detected type", () =>
    Effect.gen(function* () {
      const picture = yield* Effect.promise(() => quarters().png().toBuffer())
      for (const type of [...types, "image/svg+xml", "application/pdf"])
        if (type !== "image/png") yield* assertRejected(picture, type)
      const { _tag } = yield* Effect.flip(render(picture, "video/mp4"))
      assert.include(["NotRenderableError", "NoFfmpegError"], _tag)
      yield* render(picture, "image/png")
    })
  )

  it.effect("a truncated picture is rejected", () =>
    Effect.gen(function* () {
      const photo = noise(400, 300)
      const whole = [
        [photo.clone().jpeg(), "image/jpeg"],
        [photo.clone().png(), "image/png"],
        [photo.clone().webp(), "image/webp"],
        [photo.clone().tiff(), "image/tiff"],
        [photo.clone().avif({ effort: 0 }), "image/avif"]
      ] as const
      for (const [picture, type] of whole) {
        const bytes = yield* Effect.promise(() => picture.toBuffer())
        yield* render(bytes, type)
        yield* assertRejected(bytes.subarray(0, bytes.length * 0.6), type)
      }
    })
  )
})

/** The peak memory of the decoder process during an effect, in MiB. */
const peakDuring = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    let peak = 0
    let pid = 0
    const watch = Effect.sync(() => {
      // To list all processes takes longer than the pause between two samples.
      if (pid === 0 || !isAlive(pid)) pid = decoders()[0]?.pid ?? 0
      if (pid !== 0) peak = Math.max(peak, memoryOf(pid) || (decoders()[0]?.mebibytes ?? 0))
    }).pipe(Effect.andThen(Effect.sleep("20 millis")), Effect.forever)
    const result = yield* Effect.raceFirst(effect, watch)
    return { result, peak }
  })

layer(limitedRenderer, { excludeTestServices: true })("decompression bombs", (it) => {
  const inside = blackPng({ width: 30_000, height: 30_000, bits: 1 })

  it.effect(
    "900 million pixels in 109 kB and 4 billion pixels in 69 bytes are rejected in a second of a processor",
    () =>
      Effect.gen(function* () {
        const bombs = [inside, blackPng({ width: 65_535, height: 65_535, bytes: 50 })]
        assert.isBelow(inside.length, 120_000)
        yield* render(quarters(10, 10).png(), "image/png")
        for (const bomb of bombs) {
          const before = decoderMillis()
          assert.include(yield* assertRejected(bomb, "image/png"), "pixel limit")
          assert.isBelow(decoderMillis() - before, 1000)
        }
      })
  )

  const flat = "<< /Type /XObject /Subtype /Image /Width 20000 /Height 20000 /ColorSpace /DeviceRGB /BitsPerComponent 8"
  const form = (to: number) =>
    `<< /Type /XObject /Subtype /Form /BBox [0 0 600 400] /Resources << /XObject << /Im ${to} 0 R >> >> /Length 70 >>\n` +
    `stream\n${"/Im Do ".repeat(10)}\nendstream`
  const bombs = {
    "a picture that must be decoded as a whole": [
      () => blackPng({ width: 10_000, height: 9900, channels: 4, interlaced: true, bytes: 397_000_000 }),
      "image/png"
    ],
    "a picture that its decoder buffers several times": [largeAvif, "image/avif"],
    "a drawing whose picture has 900 million pixels": [
      () => svg(`<image width="9" height="9" href="data:image/png;base64,${inside.toString("base64")}"/>`),
      "image/svg+xml"
    ],
    "a page whose picture has 400 million pixels": [
      () =>
        pdf({ drawing: "600 0 0 400 0 0 cm /Im Do", objects: [`${flat} /Length 9 >>\nstream\n123456789\nendstream`] }),
      "application/pdf"
    ],
    "a page of 10^12 pictures": [
      () => pdf({ drawing: "/Im Do", objects: Array.from({ length: 12 }, (_, index) => form(101 + index)) }),
      "application/pdf"
    ]
  } as const
  for (const [title, [bytes, type]] of Object.entries(bombs))
    it.effect(`${title} takes less than 700 MiB and renders or fails`, () =>
      Effect.gen(function* () {
        const { peak, result } = yield* peakDuring(Effect.result(render(bytes(), type)))
        assert.isAbove(peak, 0)
        assert.isBelow(peak, 700)
        if (result._tag === "Success") yield* assertImages(result.success.images, preview)
        else assert.match(result.failure._tag, /^(?:NotRenderable|RenderFailed)Error$/)
      })
    )
})
