import { Config, DateTime, Effect, FileSystem, Option, Path, type PlatformError, Schema } from "effect"
import { homedir } from "node:os"
import type { ApiKey } from "../../domain/keys/ApiKey.ts"
import { AssetId } from "../../domain/assets/Asset.ts"
import { UploadId } from "../../domain/assets/Upload.ts"

/** What is known of a file that was uploaded or begun; the content it had, its session, and the asset once there is one. */
const Known = Schema.Struct({
  size: Schema.Int,
  modified: Schema.Finite,
  sha256: Schema.String,
  session: Schema.optionalKey(UploadId),
  asset: Schema.optionalKey(AssetId)
})
export type Known = typeof Known.Type

/** One line of the journal; the last one of a path counts, and one without `known` forgets it. */
const Line = Schema.fromJsonString(Schema.Struct({ path: Schema.String, known: Schema.optionalKey(Known) }))
const decodeLine = Schema.decodeUnknownOption(Line)
const encodeLine = Schema.encodeSync(Line)
const encoder = new TextEncoder()

/** Notes how far uploads are, so that the next run goes on there. */
export interface Journal {
  find(path: string): Known | undefined
  note(path: string, known: Known | undefined): Effect.Effect<void, PlatformError.PlatformError>
}

/** Remembers nothing: what is there already is found out by asking the service. */
export const none: Journal = { find: () => undefined, note: () => Effect.void }

/**
 * Where the journal of a key is: in the user's state folder and not beside the files, because a folder of brand material
 * may be read-only, shared or synchronised, and is uploaded itself. Sessions belong to a key and its installation, so each
 * key has a journal of its own; the time it was made tells a key from one of the same text in another database.
 */
export const fileOf = Effect.fnUntraced(function* (key: ApiKey) {
  const path = yield* Path.Path
  const state = yield* Config.NonEmptyString("XDG_STATE_HOME").pipe(
    Config.orElse(() => Config.NonEmptyString("LOCALAPPDATA")),
    Config.withDefault(path.join(homedir(), ".local", "state"))
  )
  const name = `${key.uuid}-${DateTime.toEpochMillis(key.createdAt)}.ndjson`
  return path.join(path.resolve(state), "waypost", "uploads", name)
})

const load = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const text = (yield* fs.exists(file)) ? yield* fs.readFileString(file) : ""
  const entries = new Map<string, Known>()
  const lines = text.split("\n").filter((line) => line !== "")
  for (const line of lines) {
    // A line that was cut short, by a crash or a full disk, costs a look at its file and nothing else.
    const { known, path } = Option.getOrElse(decodeLine(line), () => ({ path: "", known: undefined }))
    if (known === undefined) entries.delete(path)
    else entries.set(path, known)
  }
  return { entries, lines: lines.length }
})

/** The journal, which notes nothing: for a look at what would be done. */
export const read = (file: string) =>
  Effect.map(load(file), ({ entries }): Journal => ({ ...none, find: (path) => entries.get(path) }))

/** A line begins with its line break, so that one that was cut short spoils no other. */
const line = (path: string, known: Known | undefined) =>
  `\n${encodeLine(known === undefined ? { path } : { path, known })}`

/** The journal, until the scope closes. */
export const open = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.makeDirectory(path.dirname(file), { recursive: true, mode: 0o700 })
  const { entries, lines } = yield* load(file)
  if (lines > 2 * entries.size + 1000) {
    const text = [...entries].map(([path, known]) => line(path, known)).join("")
    yield* fs.writeFileString(`${file}.partial`, text, { mode: 0o600 })
    yield* fs.rename(`${file}.partial`, file)
  }
  const handle = yield* fs.open(file, { flag: "a", mode: 0o600 })
  const journal: Journal = {
    find: (path) => entries.get(path),
    note: (path, known) =>
      Effect.suspend(() => {
        if (known === undefined && !entries.delete(path)) return Effect.void
        if (known !== undefined) entries.set(path, known)
        return handle.writeAll(encoder.encode(line(path, known)))
      })
  }
  return journal
})
