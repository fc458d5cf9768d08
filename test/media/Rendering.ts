import { NodeServices } from "@effect/platform-node"
import { assert } from "@effect/vitest"
import { Effect, FileSystem, Layer, Path } from "effect"
import { execFileSync } from "node:child_process"
import sharp, { type Sharp } from "sharp"
import { longestSide, Renderer, type Wanted } from "../../src/media/Renderer.ts"
import { cpuOf } from "../support/Services.ts"

/** All images, larger ones first. */
export const every: ReadonlyArray<Wanted> = [
  { size: "preview", format: "webp" },
  { size: "preview", format: "jpeg" },
  { size: "thumbnail", format: "webp" },
  { size: "thumbnail", format: "jpeg" }
]
export const preview: ReadonlyArray<Wanted> = [{ size: "preview", format: "webp" }]

/** Longer than any test: a process that should have been ended does not end because it is idle. */
const idle = "1 hour"

/** A renderer with the time limits of production. */
export const limitedRenderer = Renderer.layerWith({ idle }).pipe(Layer.provideMerge(NodeServices.layer))

/** A renderer with more time for each file than in production, because a busy machine may need it; a test of the limit gives its own. */
export const rendererLayer = (options: Parameters<typeof Renderer.layerWith>[0] = {}) =>
  Renderer.layerWith({ timeLimit: "2 minutes", idle, ...options }).pipe(Layer.provideMerge(NodeServices.layer))

/** Writes a file with the bytes in a new folder, together with other files. */
export const file = Effect.fnUntraced(function* (
  bytes: Uint8Array | Sharp,
  others: Readonly<Record<string, Uint8Array>> = {}
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "waypost-source-" })
  const written = bytes instanceof Uint8Array ? bytes : yield* Effect.promise(() => bytes.toBuffer())
  for (const [name, content] of Object.entries({ ...others, source: written }))
    yield* fs.writeFile(path.join(folder, name), content)
  return path.join(folder, "source")
})

/** Renders the bytes as a file of the type. */
export const render = Effect.fnUntraced(function* (
  bytes: Uint8Array | Sharp,
  mimeType: string,
  wanted: ReadonlyArray<Wanted> = preview
) {
  return yield* (yield* Renderer).render({ path: yield* file(bytes), mimeType }, wanted)
}, Effect.scoped)

/** The channels of the pixel at a relative position: red, green, blue, and alpha if present. */
export const colorAt = (image: Uint8Array, x: number, y: number) =>
  Effect.promise(async () => {
    const { data, info } = await sharp(image).raw().toBuffer({ resolveWithObject: true })
    const column = Math.min(Math.floor(x * info.width), info.width - 1)
    const row = Math.min(Math.floor(y * info.height), info.height - 1)
    const start = (row * info.width + column) * info.channels
    return [...data.subarray(start, start + info.channels)]
  })

/** Compares colours within the error of lossy formats. */
export const assertColor = (actual: ReadonlyArray<number>, expected: ReadonlyArray<number>, tolerance = 12) => {
  const isNear =
    actual.length === expected.length && actual.every((value, index) => Math.abs(value - expected[index]!) <= tolerance)
  assert.isTrue(isNear, `rgb(${actual.join()}) is not rgb(${expected.join()})`)
}

/** Checks that the images are complete, of the wanted formats, and within the maximum size. */
export const assertImages = (images: ReadonlyArray<Uint8Array>, wanted: ReadonlyArray<Wanted>) =>
  Effect.promise(async () => {
    assert.strictEqual(images.length, wanted.length)
    for (const [index, { format, size }] of wanted.entries()) {
      const image = sharp(images[index], { failOn: "warning" })
      const metadata = await image.metadata()
      assert.strictEqual(metadata.format, format)
      assert.isAtMost(Math.max(metadata.width, metadata.height), longestSide[size])
      await image.stats()
    }
  })

/** The decoder processes below a process, with the shells around them, their resident memory in MiB and their output folders. */
export const decoders = (parent = process.pid) => {
  const rows = execFileSync("ps", ["-A", "-ww", "-o", "pid=,ppid=,rss=,args="], { encoding: "utf8" }).split("\n")
  const all = rows.flatMap((row) => {
    const [, pid, ppid, rss, args] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.*)$/.exec(row) ?? []
    return args === undefined ? [] : [{ pid: Number(pid), ppid: Number(ppid), mebibytes: Number(rss) / 1024, args }]
  })
  const below = (pid: number): typeof all =>
    all.filter(({ ppid }) => ppid === pid).flatMap((child) => [child, ...below(child.pid)])
  const folderOf = (pid: number) =>
    /waypost-renderer \d+ (\S+)/.exec(all.find((process) => process.pid === pid)?.args ?? "")?.[1] ?? ""
  return below(parent)
    .filter(({ args }) => args.includes("renderer/main.") && !args.startsWith("/bin/sh"))
    .map(({ mebibytes, pid, ppid }) => ({ pid, guard: ppid, mebibytes, folder: folderOf(ppid) }))
}

/** The processor time of a decoder process so far, in milliseconds: what a file costs, however busy the machine is. */
export const decoderMillis = () => cpuOf(decoders()[0]!.pid) / 1000

export const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
