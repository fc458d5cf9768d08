import { Effect, type FileSystem } from "effect"
import sharp, { type SharpOptions } from "sharp"
import { attempt, bytesOf, type Drawing, Refused } from "./Drawing.ts"
import type { Wanted } from "./Protocol.ts"

sharp.concurrency(1)
sharp.cache(false)

/** Only the decoder of the job is enabled, so that the content of a file cannot select another one. */
const allowOnly = (loader: string) =>
  Effect.sync(() => {
    sharp.block({ operation: ["VipsForeignLoad"] })
    sharp.unblock({ operation: [loader] })
  })

/** The first page, upright; a truncated file is an error and not half a picture. */
const options = {
  limitInputPixels: 100_000_000,
  failOn: "error",
  pages: 1,
  autoOrient: true
} satisfies SharpOptions

const decode = (source: string | Uint8Array, longestSide: number, more: SharpOptions = {}) =>
  attempt(() =>
    sharp(source, { ...options, ...more })
      .resize({ width: longestSide, height: longestSide, fit: "inside", withoutEnlargement: true })
      .toColourspace("srgb")
      .raw({ depth: "uchar" })
      .toBuffer({ resolveWithObject: true })
  ).pipe(Effect.map(({ data, info }) => ({ pixels: data, size: info })))

/** A raster image, reduced to the longest side and never enlarged. */
export const raster = Effect.fnUntraced(function* (
  path: string,
  loader: string,
  longestSide: number
): Effect.fn.Return<Drawing, Refused> {
  yield* allowOnly(loader)
  const { autoOrient } = yield* attempt(() => sharp(path, options).metadata())
  return { ...(yield* decode(path, longestSide)), original: autoOrient }
})

/** An SVG, drawn at the longest side. */
export const vector = Effect.fnUntraced(function* (
  path: string,
  longestSide: number
): Effect.fn.Return<Drawing, Refused, FileSystem.FileSystem> {
  yield* allowOnly("VipsForeignLoadSvg")
  // From memory, because a drawing that is read from a file may include other files of its folder.
  const bytes = yield* bytesOf("vector", path)
  // Compressed drawings grow a thousandfold before anything can be known about them.
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return yield* new Refused({ reason: "it is compressed" })
  const sides = (density: number) =>
    attempt(() => sharp(bytes, { ...options, density, limitInputPixels: false }).metadata()).pipe(
      Effect.map(({ height, width }) => ({ width, height, longest: Math.max(width, height) }))
    )
  const { height, longest, width } = yield* sides(72)
  // Pixels grow with the density; millimetres and points do so twice, because their pixels become more as well.
  const isPhysical = (yield* sides(144)).longest > 3 * longest
  const scale = longestSide / longest
  const density = Math.min(Math.max(72 * (isPhysical ? Math.sqrt(scale) : scale), 1), 100_000)
  const perInch = isPhysical ? 96 / 72 : 1
  return {
    ...(yield* decode(bytes, longestSide, { density })),
    original: { width: Math.round(width * perInch), height: Math.round(height * perInch) }
  }
})

/** Writes one of the images from pixels alone, without the metadata of the original (people, places, cameras). */
export const encode = ({ pixels, size }: Drawing, { format, longestSide, path }: Wanted) =>
  Effect.promise(() => {
    const image = sharp(pixels, { raw: size }).resize({
      width: longestSide,
      height: longestSide,
      fit: "inside",
      withoutEnlargement: true
    })
    return format === "webp"
      ? image.webp({ quality: 80 }).toFile(path)
      : image.flatten({ background: "#ffffff" }).jpeg({ quality: 82, mozjpeg: true }).toFile(path)
  })
