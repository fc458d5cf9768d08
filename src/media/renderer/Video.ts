import { Effect, FileSystem, Path, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { type Drawing, Ended, NoFfmpeg, Refused } from "./Drawing.ts"
import * as Images from "./Images.ts"

// The formats of cameras and editors. Every other decoder of ffmpeg would only add attack surface.
const codecs =
  "h264,hevc,vp8,vp9,libdav1d,libaom-av1,av1,mpeg4,msmpeg4,mpeg2video,mpeg1video,h263,mjpeg,prores,dnxhd,dvvideo"

/** Prints the first picture from a second on as it is shown: upright, and of square pixels. */
const extract = (path: string, demuxer: string, second: number) =>
  ChildProcess.make(
    "ffmpeg",
    [
      ["-nostdin", "-hide_banner", "-nostats", "-y", "-filter_threads", "1"],
      // The container is not guessed, and nothing in it can lead to another file or to the network.
      ["-f", demuxer, "-protocol_whitelist", "file", "-codec_whitelist", codecs],
      ["-threads", "1", "-max_pixels", "50000000", "-ss", String(second), "-i", `file:${path}`],
      ["-map", "0:V:0", "-frames:v", "1", "-vf", "scale=min(iw*sar\\,16384):ih", "-pix_fmt", "rgb24"],
      ["-c:v", "tiff", "-compression_algo", "raw", "-f", "image2pipe", "pipe:1"]
    ].flat(),
    // In the process group of this process, so that a signal ends both.
    { stdin: "ignore", detached: false, killSignal: "SIGKILL" }
  )

/**
 * Writes the picture that an ffmpeg prints to a file; returns its log, and an error if it was ended. This process writes it,
 * because a disk that is full says nothing about the video, and ffmpeg reports both alike.
 */
const run = Effect.fnUntraced(
  function* (command: ChildProcess.Command, to: string) {
    const fs = yield* FileSystem.FileSystem
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const { exitCode, stderr, stdout } = yield* spawner
      .spawn(command)
      .pipe(Effect.catchReason("PlatformError", "NotFound", () => Effect.fail(new NoFfmpeg())))
    const log = Stream.mkString(Stream.decodeText(stderr))
    const [words] = yield* Effect.all([log, Stream.run(stdout, fs.sink(to))], { concurrency: "unbounded" })
    const ended = yield* Effect.match(exitCode, {
      onFailure: ({ message }) => new Ended({ reason: `ffmpeg was ended. ${message}` }),
      onSuccess: () => undefined
    })
    return { ended, words }
  },
  Effect.scoped,
  Effect.catchTag("PlatformError", Effect.die)
)

/** In seconds, from the log of ffmpeg; some containers have no duration. */
const duration = (words: string) => {
  const [, hours, minutes, seconds] = /^ {2}Duration: (\d+):(\d\d):(\d\d\.\d\d),/m.exec(words) ?? []
  return seconds === undefined ? {} : { duration: Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) }
}

/** The poster of a video: the frame after one second, or the first one of a shorter video. */
export const poster = Effect.fnUntraced(function* (path: string, demuxer: string, longestSide: number) {
  // Without an ffmpeg at its start this process may start none.
  if (!process.permission.has("child")) return yield* new NoFfmpeg()
  const fs = yield* FileSystem.FileSystem
  const folder = yield* Effect.orDie(fs.makeTempDirectoryScoped())
  const to = (yield* Path.Path).join(folder, "picture.tiff")
  let error: Ended | undefined
  for (const second of [1, 0]) {
    const { ended, words } = yield* run(extract(path, demuxer, second), to)
    error ??= ended
    if (Number((yield* Effect.orDie(fs.stat(to))).size) === 0) {
      // An ffmpeg that opened or rejected the file has named it.
      if (ended === undefined && !words.includes(path))
        return yield* Effect.die(new Error(`ffmpeg cannot run. ${words}`))
      continue
    }
    const raster = Images.raster(to, "VipsForeignLoadTiff", longestSide)
    const drawing = yield* ended === undefined ? raster : Effect.catch(raster, () => Effect.undefined)
    if (drawing !== undefined)
      return { ...drawing, original: { ...drawing.original, ...duration(words) } } satisfies Drawing
  }
  return yield* error ?? new Refused({ reason: "there is no picture in it" })
}, Effect.scoped)
