import { Effect, FileSystem, Option, type PlatformError, Ref, Scope } from "effect"

const encoder = new TextEncoder()

/** Writes refused rows or files with their reasons, one JSON object a line. The first entry creates the file. */
export const make = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const scope = yield* Effect.scope
  const opened = yield* Ref.make(Option.none<FileSystem.File>())
  const open = Effect.flatMap(
    Ref.get(opened),
    Option.match({
      onSome: Effect.succeed,
      onNone: () =>
        fs.open(file, { flag: "w" }).pipe(
          Scope.provide(scope),
          Effect.tap((made) => Ref.set(opened, Option.some(made)))
        )
    })
  )
  return (entry: object): Effect.Effect<void, PlatformError.PlatformError> =>
    Effect.flatMap(open, (made) => made.writeAll(encoder.encode(`${JSON.stringify(entry)}\n`)))
})
