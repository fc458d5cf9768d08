import { NodeServices } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem, Layer } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { join } from "node:path"
import sharp from "sharp"
import { FileId } from "../../src/domain/assets/File.ts"
import { NoFfmpegError, NotRenderableError, RenderFailedError, Renderer } from "../../src/media/Renderer.ts"
import { Files, type StoredFile } from "../../src/repositories/assets/Files.ts"
import { ApiKeys } from "../../src/services/ApiKeys.ts"
import { defaultThumbnails } from "../../src/services/ThumbnailKeys.ts"
import { Thumbnails } from "../../src/services/Thumbnails.ts"
import { Storage, StorageUnavailableError } from "../../src/storage/Storage.ts"
import { unknownUuid } from "../support/requests/Requests.ts"
import * as TestServer from "../support/TestServer.ts"
import { quarters, nonImages } from "../support/MediaFixtures.ts"
import { assertColor, assertImages, colorAt, every, preview, render, rendererLayer } from "./Rendering.ts"

const hasFfmpeg = spawnSync("ffmpeg", ["-version"]).status === 0

/** Creates a video of one second of red and one second of blue with these ffmpeg parameters. */
const video = Effect.fnUntraced(function* (name: string, ...parameters: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = join(yield* fs.makeTempDirectoryScoped({ prefix: "waypost-video-" }), name)
  const color = (name: string) => ["-f", "lavfi", "-i", `color=c=${name}:size=640x360:rate=10:duration=1`]
  const filter = "[0:v][1:v]concat=n=2:v=1:a=0,format=yuv420p[v]"
  execFileSync("ffmpeg", [
    "-v",
    "error",
    ...color("red"),
    ...color("blue"),
    "-filter_complex",
    filter,
    "-map",
    "[v]",
    ...parameters,
    path
  ])
  return path
})

const types: Readonly<Record<string, readonly [string, ...ReadonlyArray<string>]>> = {
  "a.mp4": ["video/mp4", "-c:v", "libx264"],
  "a.mov": ["video/quicktime", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p"],
  "a.webm": ["video/webm", "-c:v", "libvpx"],
  "a.mkv": ["video/matroska", "-c:v", "mpeg4"],
  "a.avi": ["video/vnd.avi", "-c:v", "mpeg4"]
}

if (hasFfmpeg)
  layer(rendererLayer(), { excludeTestServices: true })("thumbnails of videos", (it) => {
    for (const [name, [mimeType, ...parameters]] of Object.entries(types))
      it.effect(`${mimeType} renders the frame at one second and reports dimensions and duration`, () =>
        Effect.gen(function* () {
          const path = yield* video(name, ...parameters)
          const { duration, height, images, width } = yield* (yield* Renderer).render({ path, mimeType }, every)
          assert.deepStrictEqual([width, height], [640, 360])
          assert.closeTo(duration ?? 0, 2, 0.2)
          yield* assertImages(images, every)
          for (const image of images) assertColor(yield* colorAt(image, 0.5, 0.5), [0, 0, 255], 16)
        }).pipe(Effect.scoped)
      )

    it.effect("a video shorter than a second renders its first frame", () =>
      Effect.gen(function* () {
        const path = yield* video("a.mp4", "-c:v", "libx264", "-t", "0.5")
        const { images } = yield* (yield* Renderer).render({ path, mimeType: "video/mp4" }, preview)
        assertColor(yield* colorAt(images[0]!, 0.5, 0.5), [255, 0, 0], 16)
      }).pipe(Effect.scoped)
    )

    it.effect("a video with rotation metadata is rotated", () =>
      Effect.gen(function* () {
        const path = yield* video("a.mp4", "-c:v", "libx264")
        const turned = path.replace("a.mp4", "b.mp4")
        execFileSync("ffmpeg", ["-v", "error", "-i", path, "-c", "copy", "-metadata:s:v:0", "rotate=90", turned])
        const { height, images, width } = yield* (yield* Renderer).render(
          { path: turned, mimeType: "video/mp4" },
          preview
        )
        assert.deepStrictEqual([width, height], [360, 640])
        const metadata = yield* Effect.promise(() => sharp(images[0]).metadata())
        assert.deepStrictEqual([metadata.width, metadata.height], [360, 640])
      }).pipe(Effect.scoped)
    )

    it.effect("playlists and files that are not videos are rejected", () =>
      Effect.gen(function* () {
        const path = yield* video("a.mp4", "-c:v", "libx264")
        const lists = [`ffconcat version 1.0\nfile '${path}'\n`, `#EXTM3U\n#EXTINF:2,\n${path}\n#EXT-X-ENDLIST\n`]
        const picture = yield* Effect.promise(() => quarters().png().toBuffer())
        for (const bytes of [...lists.map((list) => Buffer.from(list)), picture])
          for (const mimeType of ["video/mp4", "video/webm", "video/vnd.avi"])
            assert.instanceOf(yield* Effect.flip(render(bytes, mimeType)), NotRenderableError)
        for (const bytes of Object.values(nonImages))
          assert.instanceOf(yield* Effect.flip(render(bytes, "video/mp4")), NotRenderableError)
      }).pipe(Effect.scoped)
    )

    it.effect("a file with only audio is rejected", () =>
      Effect.gen(function* () {
        const path = (yield* video("a.mp4", "-c:v", "libx264")).replace("a.mp4", "b.mp4")
        execFileSync("ffmpeg", ["-v", "error", "-f", "lavfi", "-i", "sine=duration=2", path])
        const error = yield* Effect.flip((yield* Renderer).render({ path, mimeType: "video/mp4" }, preview))
        assert.instanceOf(error, NotRenderableError)
      }).pipe(Effect.scoped)
    )
  })

/** The renderer where programs are in one folder. */
const rendererWith = (folder: string) =>
  rendererLayer().pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ PATH: folder }))))
const noFfmpeg = rendererWith("/nonexistent")

const stored = (mimeType: string): StoredFile => ({
  uuid: FileId.make(unknownUuid),
  fileName: "a",
  extension: "",
  mimeType,
  size: 100,
  sha256: "",
  pathName: "a",
  processing: "pending"
})

describe("videos without ffmpeg", () => {
  it.live(
    "a video is not copied and stays pending, with an icon until a thumbnail is stored; a picture is copied",
    () => {
      const copied: Array<string> = []
      const rendered: Array<unknown> = []
      let isStored = false
      const services = Layer.mergeAll(
        noFfmpeg,
        Layer.mock(ApiKeys, {}),
        Layer.mock(Files, { rendered: (_, { processing }) => Effect.sync(() => void rendered.push(processing)) }),
        Layer.mock(Storage, {
          localFile: (key) =>
            Effect.suspend(() => {
              copied.push(key)
              return Effect.fail(new StorageUnavailableError({ message: "The file is not copied" }))
            }),
          size: () => (isStored ? Effect.succeedSome(1) : Effect.succeedNone)
        }),
        TestServer.settings()
      )
      return Effect.gen(function* () {
        const thumbnails = yield* Thumbnails
        yield* thumbnails.make(stored("video/mp4"))
        const wanted = defaultThumbnails[0]!
        assert.isFalse((yield* thumbnails.get(stored("video/mp4"), wanted)).isFinal)
        assert.deepStrictEqual([copied, rendered], [[], []])
        isStored = true
        for (const processing of ["pending", "ready", "failed"] as const) {
          const { isFinal, source } = yield* thumbnails.get({ ...stored("video/mp4"), processing }, wanted)
          assert.deepStrictEqual([isFinal, "key" in source], [true, true], processing)
        }
        isStored = false
        assert.instanceOf(yield* Effect.flip(thumbnails.make(stored("image/png"))), StorageUnavailableError)
        assert.lengthOf(copied, 1)
      }).pipe(Effect.provide(Thumbnails.layer.pipe(Layer.provide(services))))
    }
  )

  it.live("without ffmpeg videos are not rendered, which says nothing about the file, and pictures are", () =>
    Effect.gen(function* () {
      for (const [mimeType] of Object.values(types)) {
        const error = yield* Effect.flip(render(Buffer.from("000000206674797069736f6d", "hex"), mimeType))
        assert.instanceOf(error, NoFfmpegError)
        assert.include(error.message, "no ffmpeg")
      }
      yield* assertImages((yield* render(quarters().png(), "image/png", every)).images, every)
    }).pipe(Effect.provide(noFfmpeg))
  )

  it.live("the same holds for a process of the renderer that was started before the ffmpeg was installed", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "waypost-programs-" })
      yield* Effect.gen(function* () {
        yield* render(quarters().png(), "image/png")
        yield* fs.writeFileString(join(folder, process.platform === "win32" ? "ffmpeg.exe" : "ffmpeg"), "")
        const error = yield* Effect.flip(render(Buffer.from("000000206674797069736f6d", "hex"), "video/mp4"))
        assert.instanceOf(error, NoFfmpegError)
      }).pipe(Effect.provide(rendererWith(folder)))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

/** The thumbnails of a video for which ffmpeg is this shell script. */
const renderWith = Effect.fnUntraced(function* (script: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "waypost-programs-" })
  yield* fs.writeFileString(join(folder, "ffmpeg"), `#!/bin/sh\n${script}\n`)
  // The process of the renderer may have another user.
  for (const path of [folder, join(folder, "ffmpeg")]) yield* fs.chmod(path, 0o755)
  return yield* render(new Uint8Array(10), "video/mp4", preview).pipe(Effect.provide(rendererWith(folder)))
})

const errorWith = (script: string) => Effect.flip(renderWith(script))

/** The program of a shell that prints a picture of this size. */
const printing = (width: number) =>
  Effect.promise(async () => {
    const picture = await quarters().resize(width, 20, { fit: "fill" }).tiff({ compression: "none" }).toBuffer()
    return `{ base64 -d <<END\n${picture.toString("base64")}\nEND\n}`
  })

describe.skipIf(process.platform === "win32")("an ffmpeg that is ended", () => {
  for (const [title, first, width] of [
    ["without a picture at one second is tried at the first frame", ": ", 30],
    ["after a part of the picture is tried at the first frame", "half", 30],
    ["after the picture does not take the picture away", "whole", 40]
  ] as const)
    it.live(title, () =>
      Effect.gen(function* () {
        const [atOne, atStart] = [yield* printing(40), yield* printing(30)]
        const prints = { ": ": ":", half: `${atOne} | head -c 1000`, whole: atOne }[first]
        const script = `PATH=/usr/bin:/bin\ncase " $* " in *" -ss 1 "*) ${prints}; kill -KILL $$;; esac\n${atStart}`
        assert.strictEqual((yield* renderWith(script)).width, width)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )
})

describe.skipIf(process.platform === "win32")("an ffmpeg that prints no picture", () => {
  const test = (title: string, script: string, check: (error: Effect.Success<ReturnType<typeof errorWith>>) => void) =>
    it.live(title, () => Effect.map(errorWith(script), check).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  const naming = (end: string) => `for word; do case $word in file:*) echo "$word: ${end}" >&2; esac; done`

  test(
    "a file that it rejects cannot be rendered",
    `${naming("Invalid data found when processing input")}; exit 183`,
    (error) => assert.instanceOf(error, NotRenderableError)
  )

  test(
    "an ffmpeg that cannot run says nothing about the file",
    "echo ffmpeg: error while loading shared libraries >&2; exit 127",
    (error) => {
      assert.instanceOf(error, RenderFailedError)
      assert.isUndefined(error.fault)
      assert.include(error.message, "shared libraries")
    }
  )

  test("a file at which it is killed is one that ended the process", `${naming("Input")}; kill -KILL $$`, (error) => {
    assert.instanceOf(error, RenderFailedError)
    assert.strictEqual(error.fault, "endedProcess")
  })
})
