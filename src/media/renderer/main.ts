import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Effect, FileSystem, Queue, Schema, Stdio, Stream } from "effect"
import { Console } from "node:console"
import { getPriority, setPriority } from "node:os"
import * as Formats from "../Formats.ts"
import { Refused } from "./Drawing.ts"
import * as Identity from "./Identity.ts"
import * as Images from "./Images.ts"
import * as Pdf from "./Pdf.ts"
import { Answer, Job, ready } from "./Protocol.ts"
import * as Video from "./Video.ts"

/*
 * The process that decodes untrusted files. It reads one job a line and writes one response a line until its input ends.
 * A decoder may crash it, hang it or fill its memory: it holds no state and no secrets, and the service starts another one.
 */

const draw = ({ mimeType, path, wanted }: Job) => {
  const format = Formats.format(mimeType)
  const longestSide = Math.max(1, ...wanted.map((image) => image.longestSide))
  switch (format?.kind) {
    case "raster":
      return Images.raster(path, format.loader, longestSide)
    case "vector":
      return Images.vector(path, longestSide)
    case "pdf":
      return Pdf.firstPage(path, longestSide)
    case "video":
      return Video.poster(path, format.demuxer, longestSide)
    case undefined:
      return Effect.fail(new Refused({ reason: `${mimeType} is not drawn` }))
  }
}

/** The message of a decoder on one line, without the path of this machine. */
const said = (words: string, { path }: Job) => words.replaceAll(path, "the file").replaceAll(/\s+/g, " ").slice(0, 300)

const render = (job: Job): Effect.Effect<Answer, never, NodeServices.NodeServices> =>
  Effect.gen(function* () {
    // A read error is not a property of the file.
    yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.access(job.path, { readable: true }))
    const drawing = yield* draw(job)
    yield* Effect.forEach(job.wanted, (image) => Images.encode(drawing, image))
    return { _tag: "Rendered", ...drawing.original } as const
  }).pipe(
    Effect.catchTags({
      Refused: ({ _tag, reason }) => Effect.succeed({ _tag, reason: said(reason, job) } as const),
      Ended: ({ _tag, reason }) => Effect.succeed({ _tag, reason: said(reason, job) } as const),
      NoFfmpeg: () => Effect.succeed({ _tag: "NoFfmpeg" } as const)
    }),
    Effect.catchCause((cause) =>
      Effect.succeed({ _tag: "Failed", reason: said(String(Cause.squash(cause)), job) } as const)
    )
  )

const main = Effect.gen(function* () {
  const stdio = yield* Stdio.Stdio
  const lines = yield* Queue.unbounded<string>()
  const listen = stdio.stdin.pipe(
    Stream.decodeText,
    Stream.splitLines,
    Stream.runForEach((line) => Queue.offer(lines, line))
  )
  const write = (line: string) => Stream.run(Stream.make(`${line}\n`), stdio.stdout({ endOnDone: false }))
  const work = Effect.gen(function* () {
    const job = yield* Schema.decodeEffect(Job)(yield* Queue.take(lines))
    const answer = yield* Schema.encodeEffect(Answer)(yield* render(job))
    yield* write(answer)
  })
  yield* write(ready)
  yield* Effect.raceFirst(listen, Effect.forever(work))
})

Identity.assume(process.argv)
// Slightly lower priority than the service, which answers requests. No user except root may raise it.
setPriority(Math.min(getPriority() + 5, 19))
// Decoders log through the console; the standard output carries responses only.
globalThis.console = new Console(process.stderr)

// A decoder may still be at work in a thread, and an orderly exit would wait for it.
Effect.runFork(
  main.pipe(
    Effect.provide(NodeServices.layer),
    Effect.ensuring(Effect.sync(() => process.kill(process.pid, "SIGKILL")))
  )
)
