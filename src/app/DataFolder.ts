import { Effect, FileSystem, Path, type PlatformError } from "effect"
import { Settings } from "../settings/Config.ts"
import { SettingsError } from "../settings/SettingsError.ts"

const unusable = (reason: string) =>
  new SettingsError({ message: `DATA_DIR: ${reason}. Choose another folder. For example: DATA_DIR=.data` })

/**
 * Creates a folder and the folders above it, one by one: `recursive` never ends where the system reports that a folder
 * which exists does not, as below /proc.
 */
const create = Effect.fnUntraced(function* (
  folder: string
): Effect.fn.Return<void, PlatformError.PlatformError | SettingsError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const parent = (yield* Path.Path).dirname(folder)
  const make = Effect.catchReason(fs.makeDirectory(folder), "PlatformError", "AlreadyExists", () =>
    Effect.flatMap(fs.stat(folder), ({ type }) =>
      type === "Directory" ? Effect.void : unusable(`"${folder}" is a file`)
    )
  )
  yield* Effect.catchReason(make, "PlatformError", "NotFound", (_, error) =>
    parent === folder ? Effect.fail(error) : Effect.andThen(create(parent), make)
  )
})

/** The data folder, which is created if it is absent. Fails if its disk does not answer. */
export const make = Effect.gen(function* () {
  const { DATA_DIR } = yield* Settings
  const folder = (yield* Path.Path).resolve(DATA_DIR)
  const late = unusable(`the disk of "${folder}" does not answer`)
  yield* Effect.timeoutOrElse(create(folder), { duration: "4 seconds", orElse: () => Effect.fail(late) })
  return folder
})
