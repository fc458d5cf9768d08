import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import sharp from "sharp"
import { noise, quarters, svg } from "../support/MediaFixtures.ts"
import { assertColor, assertImages, colorAt, every, render, rendererLayer } from "./Rendering.ts"

const red = [255, 0, 0]
const green = [0, 255, 0]
const blue = [0, 0, 255]
const white = [255, 255, 255]

const cornersOf = (image: Uint8Array) =>
  Effect.all([colorAt(image, 0.2, 0.2), colorAt(image, 0.8, 0.2), colorAt(image, 0.8, 0.8), colorAt(image, 0.2, 0.8)])

const sizesOf = (images: ReadonlyArray<Uint8Array>) =>
  Effect.promise(() =>
    Promise.all(
      images.map((image) =>
        sharp(image)
          .metadata()
          .then(({ height, width }) => `${width}x${height}`)
      )
    )
  )

layer(rendererLayer(), { excludeTestServices: true })("thumbnails of pictures", (it) => {
  it.effect("a picture is scaled down to both sizes in both formats and keeps its content", () =>
    Effect.gen(function* () {
      const { images, ...original } = yield* render(quarters(1600, 1200).jpeg({ quality: 95 }), "image/jpeg", every)
      assert.deepStrictEqual(original, { width: 1600, height: 1200 })
      yield* assertImages(images, every)
      assert.deepStrictEqual(yield* sizesOf(images), ["1200x900", "1200x900", "300x225", "300x225"])
      for (const image of images)
        for (const [index, color] of (yield* cornersOf(image)).entries())
          assertColor(color, [red, green, blue, white][index]!)
    })
  )

  it.effect("a photo with an EXIF orientation is rotated, and its reported dimensions are as well", () =>
    Effect.gen(function* () {
      const photo = quarters(1600, 1200).withMetadata({ orientation: 6 }).jpeg({ quality: 95 })
      const { images, ...original } = yield* render(photo, "image/jpeg", every)
      assert.deepStrictEqual(original, { width: 1200, height: 1600 })
      assert.deepStrictEqual(yield* sizesOf(images), ["900x1200", "900x1200", "225x300", "225x300"])
      for (const image of images)
        for (const [index, color] of (yield* cornersOf(image)).entries())
          assertColor(color, [white, red, green, blue][index]!)
    })
  )

  it.effect("small pictures are not enlarged, and thin ones keep at least one pixel", () =>
    Effect.gen(function* () {
      const small = yield* render(quarters(100, 50).png(), "image/png", every)
      assert.deepStrictEqual(yield* sizesOf(small.images), ["100x50", "100x50", "100x50", "100x50"])
      const thin = yield* render(noise(6000, 2).png(), "image/png", every)
      assert.deepStrictEqual(yield* sizesOf(thin.images), ["1200x1", "1200x1", "300x1", "300x1"])
      const none = yield* render(quarters(100, 50).png(), "image/png", [])
      assert.deepStrictEqual(none, { width: 100, height: 50, images: [] })
    })
  )

  it.effect("thumbnails contain no EXIF, XMP, IPTC or ICC metadata", () =>
    Effect.gen(function* () {
      const photo = quarters()
        .withExif({ IFD0: { Artist: "Jan Jansen" }, IFD3: { GPSLatitudeRef: "N", GPSLatitude: "52/1 5/1 0/1" } })
        .withIccProfile("p3")
        .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"><photographer>Jan Jansen</photographer></x:xmpmeta>')
        .jpeg()
      const before = yield* Effect.promise(async () => sharp(await photo.toBuffer()).metadata())
      assert.isDefined(before.exif ?? undefined)
      assert.isDefined(before.xmp ?? undefined)
      const { images } = yield* render(photo, "image/jpeg", every)
      for (const image of images) {
        const { exif, icc, iptc, xmp } = yield* Effect.promise(() => sharp(image).metadata())
        assert.deepStrictEqual(
          { exif, icc, iptc, xmp },
          { exif: undefined, icc: undefined, iptc: undefined, xmp: undefined }
        )
        assert.notInclude(Buffer.from(image).toString("latin1"), "Jansen")
      }
    })
  )

  it.effect("transparency is kept in WebP and becomes white in JPEG", () =>
    Effect.gen(function* () {
      const stamp = sharp({
        create: { width: 900, height: 900, channels: 4, background: { r: 255, g: 0, b: 0, alpha: 0 } }
      })
      const { images } = yield* render(stamp.png(), "image/png", every)
      assert.strictEqual((yield* colorAt(images[0]!, 0.5, 0.5))[3], 0)
      assertColor(yield* colorAt(images[1]!, 0.5, 0.5), white)
    })
  )

  it.effect("an animation renders its first frame", () =>
    Effect.gen(function* () {
      const frames = [red, blue].map(([r, g, b]) => ({
        create: { width: 600, height: 400, channels: 3 as const, background: { r: r!, g: g!, b: b! } }
      }))
      const pictures = yield* Effect.promise(() => Promise.all(frames.map((frame) => sharp(frame).png().toBuffer())))
      const moving = sharp(pictures, { join: { animated: true } })
      for (const [bytes, type] of [
        [moving.clone().gif(), "image/gif"],
        [moving.clone().webp(), "image/webp"]
      ] as const) {
        const { images, ...original } = yield* render(bytes, type)
        assert.deepStrictEqual(original, { width: 600, height: 400 })
        assertColor(yield* colorAt(images[0]!, 0.5, 0.5), red)
        assert.deepStrictEqual(yield* sizesOf(images), ["600x400"])
      }
    })
  )

  const reds = () => quarters(400, 300).extract({ left: 0, top: 0, width: 200, height: 150 })
  const formats = {
    "a CMYK JPEG": [reds().toColourspace("cmyk").jpeg(), "image/jpeg", red],
    "a progressive JPEG": [reds().jpeg({ progressive: true }), "image/jpeg", red],
    "a grey JPEG": [reds().toColourspace("b-w").jpeg(), "image/jpeg", [127, 127, 127]],
    "a PNG of 16 bits": [reds().toColourspace("rgb16").png(), "image/png", red],
    "a PNG with a palette": [reds().png({ palette: true }), "image/png", red],
    "an interlaced PNG": [reds().png({ progressive: true }), "image/apng", red],
    "a TIFF": [reds().tiff({ compression: "lzw" }), "image/tiff", red],
    "a lossless WebP": [reds().webp({ lossless: true }), "image/webp", red],
    "an AVIF": [reds().avif({ effort: 0 }), "image/avif", red],
    "a JPEG in Display P3": [reds().withIccProfile("p3").jpeg(), "image/jpeg", red]
  } as const
  for (const [title, [bytes, type, color]] of Object.entries(formats))
    it.effect(`${title} is converted to sRGB`, () =>
      Effect.gen(function* () {
        const { images } = yield* render(bytes, type, every)
        yield* assertImages(images, every)
        // CMYK has no such red, so the nearest one is returned.
        for (const image of images)
          assertColor(yield* colorAt(image, 0.5, 0.5), color, title.includes("CMYK") ? 45 : 12)
      })
    )

  it.effect("an SVG is scaled up to the sizes, and its own dimensions are reported", () =>
    Effect.gen(function* () {
      const corner = '<path fill="#f00" d="M0 0H12V12H0Z"/>'
      const icon = yield* render(svg(corner, 'width="24" height="24"'), "image/svg+xml", every)
      assert.deepInclude(icon, { width: 24, height: 24 })
      assert.deepStrictEqual(yield* sizesOf(icon.images), ["1200x1200", "1200x1200", "300x300", "300x300"])
      assertColor(yield* colorAt(icon.images[1]!, 0.45, 0.45), red)
      assertColor(yield* colorAt(icon.images[1]!, 0.55, 0.45), white)
      const poster = yield* render(
        svg(corner, 'width="1189mm" height="841mm" viewBox="0 0 24 17"'),
        "image/svg+xml",
        every
      )
      assert.deepInclude(poster, { width: 4493, height: 3179 })
      assert.deepStrictEqual(yield* sizesOf(poster.images), ["1200x849", "1200x849", "300x212", "300x212"])
    })
  )
})
