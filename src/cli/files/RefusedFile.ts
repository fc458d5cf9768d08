import { Effect, FileSystem, Option, type PlatformError, Ref, Scope } from "effect"
import { inFile } from "../Failures.ts"

const encoder = new TextEncoder()

/** Readable by its owner only: the entries repeat the rows, which can be records of people. */
const mode = 0o600

/** Writes text to a file, which the first text creates. */
export const writer = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const scope = yield* Effect.scope
  const opened = yield* Ref.make(Option.none<FileSystem.File>())
  const open = Effect.flatMap(
    Ref.get(opened),
    Option.match({
      onSome: Effect.succeed,
      onNone: () =>
        fs.open(file, { flag: "w", mode }).pipe(
          Scope.provide(scope),
          // A file that exists keeps its mode when it is opened.
          Effect.tap((made) =>
            Effect.flatMap(made.stat, ({ type }) => (type === "File" ? fs.chmod(file, mode) : Effect.void))
          ),
          Effect.tap((made) => Ref.set(opened, Option.some(made)))
        )
    })
  )
  return (text: string): Effect.Effect<void, PlatformError.PlatformError> =>
    Effect.flatMap(open, (made) => Effect.mapError(made.writeAll(encoder.encode(text)), inFile(file)))
})

/** Writes refused files with their reasons, one JSON object a line. */
export const make = (file: string) =>
  Effect.map(writer(file), (write) => (entry: object) => write(`${JSON.stringify(entry)}\n`))
