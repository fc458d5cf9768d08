import { Config, DateTime, Effect, FileSystem, Option, Path, type PlatformError, Schema } from "effect"
import { createHash } from "node:crypto"
import { homedir } from "node:os"
import type { ApiKey } from "../../domain/keys/ApiKey.ts"
import { AssetId } from "../../domain/assets/Asset.ts"
import { UploadId } from "../../domain/assets/Upload.ts"
import { inFile } from "../Failures.ts"

/**
 * A file whose upload was begun or completed: its content, its session, and its asset once created. `sameAs` is the name of
 * another file with the same content, whose asset it shares.
 */
const Known = Schema.Struct({
  size: Schema.Int,
  modified: Schema.Finite,
  sha256: Schema.String,
  session: Schema.optionalKey(UploadId),
  asset: Schema.optionalKey(AssetId),
  sameAs: Schema.optionalKey(Schema.String)
})
export type Known = typeof Known.Type

/** A line of the journal; the last one of a path counts, and one without `known` removes the path. */
const Line = Schema.fromJsonString(Schema.Struct({ path: Schema.String, known: Schema.optionalKey(Known) }))
const decodeLine = Schema.decodeUnknownOption(Line)
const encodeLine = Schema.encodeSync(Line)
const encoder = new TextEncoder()

/** Records the progress of uploads, so that the next run continues there. */
export interface Journal {
  find(path: string): Known | undefined
  note(path: string, known: Known | undefined): Effect.Effect<void, PlatformError.PlatformError>
}

/** Records nothing: the service finds files that it has already. */
export const none: Journal = { find: () => undefined, note: () => Effect.void }

/**
 * The journal file of a key of a service, in the user's state folder: the uploaded folder itself may be read-only, shared or
 * synchronised. Sessions belong to a key, so each key has its own journal. A service that was restored from a backup has the
 * keys of the other one, which the address distinguishes; the time of creation distinguishes those of one address.
 */
export const fileOf = Effect.fnUntraced(function* (
  { createdAt, uuid }: Pick<ApiKey, "createdAt" | "uuid">,
  baseUrl: string
) {
  const path = yield* Path.Path
  const state = yield* Config.NonEmptyString("XDG_STATE_HOME").pipe(
    Config.orElse(() => Config.NonEmptyString("LOCALAPPDATA")),
    Config.withDefault(path.join(homedir(), ".local", "state"))
  )
  const service = createHash("sha256").update(baseUrl).digest("hex").slice(0, 16)
  const name = `${uuid}-${DateTime.toEpochMillis(createdAt)}-${service}.ndjson`
  return path.join(path.resolve(state), "waypost", "uploads", name)
})

const load = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const text = (yield* fs.exists(file)) ? yield* fs.readFileString(file) : ""
  const entries = new Map<string, Known>()
  const lines = text.split("\n").filter((line) => line !== "")
  for (const line of lines) {
    // A line truncated by a crash or a full disk only causes its file to be read again.
    const { known, path } = Option.getOrElse(decodeLine(line), () => ({ path: "", known: undefined }))
    if (known === undefined) entries.delete(path)
    else entries.set(path, known)
  }
  return { entries, lines: lines.length }
})

/** The journal, read-only, for a dry run. */
export const read = (file: string) =>
  Effect.map(load(file), ({ entries }): Journal => ({ ...none, find: (path) => entries.get(path) }))

/** A line begins with its line break, so that a truncated one does not damage the next. */
const line = (path: string, known: Known | undefined) =>
  `\n${encodeLine(known === undefined ? { path } : { path, known })}`

/** The journal, open until the scope closes. */
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
        return Effect.mapError(handle.writeAll(encoder.encode(line(path, known))), inFile(file))
      })
  }
  return journal
})
