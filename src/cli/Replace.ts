import { Effect, FileSystem, Stream } from "effect"
import { inFile } from "./Failures.ts"

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
  yield* Effect.scoped(write).pipe(Effect.onError(() => Effect.ignore(fs.remove(partial, { force: true }))))
  yield* fs.rename(partial, file)
})
