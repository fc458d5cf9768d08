import { Effect, FileSystem, Option, type PlatformError, Ref, Scope } from "effect"

const encoder = new TextEncoder()

/**
 * Writes what was refused and why, one JSON object a line. The file is made with the first refusal; a run without one
 * leaves nothing behind.
 */
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
  return (refusal: object): Effect.Effect<void, PlatformError.PlatformError> =>
    Effect.flatMap(open, (made) => made.writeAll(encoder.encode(`${JSON.stringify(refusal)}\n`)))
})
