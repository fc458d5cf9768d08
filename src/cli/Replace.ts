import { Effect, FileSystem, Stream } from "effect"
import { CommandError, inFile } from "./Failures.ts"

/** Fails if a folder has the name of a file that is to be written. */
export const checkNoFolder = Effect.fnUntraced(function* (file: string) {
  const { stat } = yield* FileSystem.FileSystem
  const isFolder = Effect.map(stat(file), ({ type }) => type === "Directory")
  if (yield* Effect.orElseSucceed(isFolder, () => false)) {
    return yield* new CommandError({ message: `${file} is a folder; name a file` })
  }
})

/**
 * Replaces a file at once: after a crash it is the old one or the new one. Only its owner can read it. The text is collected
 * in `partial`, in the same folder.
 */
export const replace = Effect.fnUntraced(function* <E, R>(
  file: string,
  text: Stream.Stream<string, E, R>,
  partial = `${file}.partial`
) {
  const fs = yield* FileSystem.FileSystem
  yield* checkNoFolder(file)
  // One that an earlier run left would keep its mode.
  yield* fs.remove(partial, { force: true })
  const write = Effect.gen(function* () {
    const handle = yield* fs.open(partial, { flag: "wx", mode: 0o600 })
    yield* text.pipe(
      Stream.encodeText,
      Stream.runForEach((bytes) => Effect.mapError(handle.writeAll(bytes), inFile(file)))
    )
    yield* Effect.mapError(handle.sync, inFile(file))
  })
  yield* Effect.andThen(Effect.scoped(write), fs.rename(partial, file)).pipe(
    Effect.onError(() => Effect.ignore(fs.remove(partial, { force: true })))
  )
})
