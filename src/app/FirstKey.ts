import { Console, Effect, FileSystem, Option, Path } from "effect"
import * as Permission from "../domain/keys/Permission.ts"
import { ApiKeys } from "../services/ApiKeys.ts"
import { Settings } from "../settings/Config.ts"
import * as DataFolder from "./DataFolder.ts"

const fileName = "first-key"

/** Writes the key to a file that only its owner can read; returns the path. */
const keep = Effect.fnUntraced(function* (key: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(yield* DataFolder.make, fileName)
  // A file that exists would keep its mode.
  yield* fs.remove(file, { force: true })
  yield* fs.writeFileString(file, `${key}\n`, { flag: "wx", mode: 0o600 })
  return file
})

/**
 * Creates the first key of an installation, prints it as a line of its own and keeps it in a file. The key is never part of
 * a log record: records are collected and exported.
 */
export const create = Effect.gen(function* () {
  const { BOOTSTRAP_API_KEY } = yield* Settings
  const keys = yield* ApiKeys
  const created = yield* keys.createFirst(Permission.all, BOOTSTRAP_API_KEY)
  if (Option.isNone(created)) return
  if (Option.isSome(BOOTSTRAP_API_KEY))
    return yield* Effect.logInfo("The first API key is the value of BOOTSTRAP_API_KEY")
  const { key } = created.value
  yield* Console.log(`The first API key: ${key}`)
  const file = yield* Effect.option(keep(key))
  yield* Console.log(
    Option.match(file, {
      onNone: () => "It is shown only now: the data folder cannot be written.",
      onSome: (file) => `It is also in ${file}, which only its owner can read. Delete the file once the key is stored.`
    })
  )
})
