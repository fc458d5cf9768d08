import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { randomOf } from "../support/Random.ts"
import { NotRenderableError, RenderFailedError } from "../../src/media/Renderer.ts"
import { pdf, quarters, svg } from "../support/MediaFixtures.ts"
import { assertImages, render, rendererLayer } from "./Rendering.ts"

/** Damages bytes in one way: flipped bits, extreme numbers, a missing or repeated piece, or truncation. */
const damaged = (bytes: Uint8Array, random: () => number) => {
  const at = (length: number) => Math.floor(random() * length)
  const result = Buffer.from(bytes)
  switch (at(5)) {
    case 0:
      for (let count = 1 + at(8); count > 0; count--) result[at(result.length)]! ^= 1 << at(8)
      return result
    case 1:
      // Headers are at the beginning and contain sizes.
      result.fill([0x00, 0x7f, 0x80, 0xff][at(4)]!, at(Math.min(result.length, 200))).fill(bytes.subarray(200), 200)
      return result.subarray(0, bytes.length)
    case 2: {
      const start = at(result.length)
      return Buffer.concat([result.subarray(0, start), result.subarray(start + 1 + at(64))])
    }
    case 3: {
      const start = at(result.length)
      return Buffer.concat([result.subarray(0, start), result.subarray(Math.max(0, start - at(400)))])
    }
    default:
      return result.subarray(0, at(result.length))
  }
}

const videos = () => {
  if (spawnSync("ffmpeg", ["-version"]).status !== 0) return []
  const folder = mkdtempSync(join(tmpdir(), "waypost-video-"))
  const samples = (["mp4", "webm", "avi"] as const).map((name) => {
    const path = join(folder, `a.${name}`)
    execFileSync("ffmpeg", ["-v", "error", "-f", "lavfi", "-i", "testsrc=duration=1:size=64x48:rate=5", path])
    return [readFileSync(path), { mp4: "video/mp4", webm: "video/webm", avi: "video/vnd.avi" }[name]] as const
  })
  rmSync(folder, { recursive: true })
  return samples
}

const samples = async () => {
  const picture = quarters(160, 120)
  const drawing = svg(
    '<defs><linearGradient id="a"><stop stop-color="red"/></linearGradient></defs><rect fill="url(#a)" width="9" height="9"/>'
  )
  return [
    [await picture.clone().withMetadata({ orientation: 6 }).withIccProfile("p3").jpeg().toBuffer(), "image/jpeg"],
    [await picture.clone().jpeg({ progressive: true }).toBuffer(), "image/jpeg"],
    [await picture.clone().png().toBuffer(), "image/png"],
    [await picture.clone().webp().toBuffer(), "image/webp"],
    [await picture.clone().gif().toBuffer(), "image/gif"],
    [await picture.clone().tiff({ compression: "lzw" }).toBuffer(), "image/tiff"],
    [await picture.clone().avif({ effort: 0 }).toBuffer(), "image/avif"],
    [drawing, "image/svg+xml"],
    [gzipSync(drawing), "image/svg+xml"],
    [pdf(), "application/pdf"],
    ...videos()
  ] as const
}

const wantedOfPictures = [
  { size: "preview", format: "webp" },
  { size: "thumbnail", format: "jpeg" }
] as const

/** Drawings and pages are as large as their image is, so that previews of them would take a third of a second each. */
const wantedOfVectors = [
  { size: "thumbnail", format: "webp" },
  { size: "thumbnail", format: "jpeg" }
] as const

const vectors = new Set(["image/svg+xml", "application/pdf"])

const seed = 2026

describe("rendering of damaged files", () => {
  it.live("a damaged file renders complete images or fails with one of the two errors", () =>
    Effect.gen(function* () {
      const seen = { images: 0, refused: 0, failed: 0 }
      for (const [index, [bytes, type]] of (yield* Effect.promise(samples)).entries()) {
        // Its own numbers for each, so that the videos, which need an ffmpeg, change nothing for the others.
        const random = randomOf(seed + index)
        const wanted = vectors.has(type) ? wantedOfVectors : wantedOfPictures
        for (let round = 0; round < 20; round++) {
          const result = yield* Effect.result(render(damaged(bytes, random), type, wanted))
          if (result._tag === "Success") {
            yield* assertImages(result.success.images, wanted)
            seen.images++
          } else if (result.failure instanceof NotRenderableError) seen.refused++
          else {
            assert.instanceOf(result.failure, RenderFailedError)
            seen.failed++
          }
        }
      }
      assert.isAbove(seen.images, 20, `seed ${seed}`)
      assert.isAbove(seen.refused, 60, `seed ${seed}`)
      // Damage should rarely be reported as a failure that a retry could fix.
      assert.isBelow(seen.failed, 5, `seed ${seed}`)
    }).pipe(Effect.provide(rendererLayer({ timeLimit: "1 minute" })))
  )
})
