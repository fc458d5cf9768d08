import { Console, Duration, Effect, Option, Schedule, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { Client } from "../../client/Client.ts"
import * as Deltas from "../../client/Deltas.ts"
import { toggle } from "../CommonFlags.ts"
import * as Connection from "../Connection.ts"
import { describe, type Failure, isTemporary, persistently } from "../Failures.ts"
import * as Progress from "../Progress.ts"
import { mirrored } from "./Mirrored.ts"
import * as MirrorFile from "./MirrorFile.ts"
import * as MirrorLock from "./MirrorLock.ts"

/** Changes are collected up to this many characters before they are written, because the file is written whole. */
const defaultMaxBatch = 64 * 1024 * 1024

const description = (resource: string) => `Keeps a copy of ${resource} in a file, one JSON record a line.

Each run applies what changed since the last one. FILE.cursor holds how far the copy is; keep it next to FILE. The file is
replaced at once, so that readers never see a part of it. Addresses in it are as they were when the record was written.`

/** Brings the file up to date, and returns how many records changed. */
export const update = Effect.fnUntraced(function* (resource: string, file: string, maxBatch = defaultMaxBatch) {
  yield* MirrorLock.locked(file)
  const client = yield* Client
  const { permissions } = yield* persistently(client.apiKeys.me())
  const stored = yield* MirrorFile.load(file, resource)
  const seen = permissions.filter((permission) => permission.startsWith("read:")).toSorted()
  const state = Option.filter(stored, (known) => known.permissions.join() === seen.join())
  if (Option.isSome(stored) && Option.isNone(state)) {
    yield* Console.error(`${file} is a mirror for a key with other permissions: it begins again`)
  }

  const read = Effect.fnUntraced(function* (after: string) {
    let count = 0
    const begins = after === ""
    if (begins) yield* MirrorFile.begin(file)
    let changes = new Map<string, string | undefined>()
    let size = 0
    const page = ({ after }: { readonly after: string }) => persistently(mirrored[resource]!(client, after))
    yield* Stream.runForEach(Deltas.pages(page, after), ({ cursor, data, more }) =>
      Effect.gen(function* () {
        for (const { line, uuid } of data) {
          changes.set(uuid, line)
          size += line?.length ?? 0
        }
        if (more && size < maxBatch) return
        count += changes.size
        if (changes.size > 0 || cursor !== after) {
          const state = { resource, permissions: seen, cursor }
          yield* MirrorFile.apply(file, { changes, state, begins, isLast: !more })
        }
        changes = new Map()
        size = 0
      })
    )
    return count
  })
  const after = Option.match(state, { onNone: () => "", onSome: ({ cursor }) => cursor })
  return yield* Effect.catchIf(
    read(after),
    (error) => after !== "" && isExpired(error),
    (error) => Effect.andThen(Console.error(`${error.message}: the mirror begins again`), read(""))
  )
}, Effect.scoped)

const isExpired = (error: { readonly _tag: string }): error is Failure => error._tag === "CursorExpiredError"

const pause = 2

/** Repeats until it is interrupted, also after failures that pass; each of them is printed once. */
const repeated = <E extends Failure, R>(once: Effect.Effect<void, E, R>) => {
  let printed = ""
  return once.pipe(
    Effect.andThen(Effect.sync(() => void (printed = ""))),
    Effect.catchIf(
      (error: E) => error._tag === "LockedError" || isTemporary(error),
      (error) => {
        const message = describe(error)
        if (message === printed) return Effect.void
        printed = message
        return Console.error(`Trying again every ${pause} seconds: ${message}`)
      }
    ),
    Effect.repeat(Schedule.spaced(Duration.seconds(pause)))
  )
}

const mirror = (resource: string) =>
  Command.provide(
    Command.make(
      resource,
      {
        file: Argument.String("file").pipe(Argument.withDescription("The file to keep up to date")),
        follow: toggle(
          "follow",
          "Go on until it is interrupted, every 2 seconds, also after the service could not be reached"
        ),
        ...Connection.flags
      },
      Effect.fnUntraced(function* ({ file, follow }) {
        const once = Effect.gen(function* () {
          const changed = yield* update(resource, file)
          if (!follow || changed > 0) yield* Console.log(`${resource}: ${Progress.count(changed)} changed in ${file}`)
        })
        yield* follow ? repeated(once) : once
      })
    ).pipe(Command.withDescription(description(resource)), Command.withShortDescription(`Keep a copy of ${resource}`)),
    Connection.layer
  )

/** `waypost mirror <resource> FILE` */
export const command = Command.make("mirror").pipe(
  Command.withExamples([{ command: "waypost mirror locations locations.ndjson --follow" }]),
  Command.withSubcommands(Object.keys(mirrored).map(mirror))
)
