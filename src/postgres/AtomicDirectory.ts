import { Effect, FileSystem, Number, Option, Path } from "effect"
import * as Postmaster from "./Postmaster.ts"

const prefixOf = (path: Path.Path, target: string, purpose: string) => `${path.basename(target)}.${purpose}-`

/** Removes the temporary directories of processes that were killed. */
export const sweep = Effect.fnUntraced(function* (target: string, purpose: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.dirname(target)
  const prefix = prefixOf(path, target, purpose)
  for (const name of yield* fs.readDirectory(folder)) {
    const maker = name.startsWith(prefix) ? Number.parse(name.slice(prefix.length).split("-")[0] ?? "") : Option.none()
    if (Option.isSome(maker) && !(yield* Postmaster.signal(maker.value, 0))) {
      yield* Effect.ignore(fs.remove(path.join(folder, name), { recursive: true, force: true }))
    }
  }
})

/**
 * Makes a directory that is either complete or absent: it is filled under a temporary name in the same parent and then
 * renamed. If another process was faster, its directory stays and the new one is removed.
 */
export const create = Effect.fnUntraced(function* <E, R>(
  target: string,
  purpose: string,
  fill: (temporary: string) => Effect.Effect<void, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* Effect.acquireUseRelease(
    fs.makeTempDirectory({
      directory: path.dirname(target),
      prefix: `${prefixOf(path, target, purpose)}${process.pid}-`
    }),
    (temporary) =>
      Effect.andThen(
        fill(temporary),
        fs
          .rename(temporary, target)
          .pipe(
            Effect.catchTag("PlatformError", (error) =>
              Effect.flatMap(fs.readDirectory(target), (names) => (names.length > 0 ? Effect.void : Effect.fail(error)))
            )
          )
      ),
    (temporary) => Effect.ignore(fs.remove(temporary, { recursive: true, force: true }))
  )
})
