import { Effect, FileSystem, Option, Path, type PlatformError, Ref, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { tmpdir } from "node:os"
import { CommandError, describe, inFile } from "../Failures.ts"
import { checkNoFolder } from "../Replace.ts"

const encoder = new TextEncoder()

/** Readable by its owner only: the entries repeat the rows, which can be records of people. */
const mode = 0o600

/** Fails if a file cannot be written. Found at the first row that is refused, that would end an import half-way. */
const checkWritable = Effect.fnUntraced(
  function* (file: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    yield* checkNoFolder(file)
    yield* fs.access((yield* fs.exists(file)) ? file : path.dirname(file), { writable: true })
  },
  (effect, file) =>
    Effect.mapError(effect, (error) => {
      const message = `What is refused cannot be written to ${file}: ${describe(error)}. Name another file with --refused`
      return new CommandError({ message })
    })
)

/**
 * The file for what is refused: the one that is named, or else one next to what is read. Where that cannot be written, as in a
 * read-only folder, it is one in the folder of temporary files.
 */
export const pathOf = Effect.fnUntraced(function* (named: Option.Option<string>, fallback: string) {
  const path = yield* Path.Path
  if (Option.isSome(named)) return path.resolve(named.value)
  const file = path.resolve(fallback)
  return (yield* Effect.isSuccess(checkWritable(file)))
    ? file
    : path.join(tmpdir(), `${SecureRandom.uuidV4Unsafe()}.${path.basename(file)}`)
})

/** Writes text to a file, which the first text creates. Fails at once if it cannot be created. */
export const writer = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  yield* checkWritable(file)
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
