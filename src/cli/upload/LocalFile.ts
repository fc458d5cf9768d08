import { Effect, FileSystem, Option, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { openFile } from "../../client/node/LocalFile.ts"

/** A file on this machine; `size` in bytes, `modified` in milliseconds since 1970. */
export interface LocalFile {
  readonly path: string
  /** The path as given on the command line, for messages. */
  readonly shown: string
  readonly name: string
  /** The names of the folders between the given folder and the file. */
  readonly folders: ReadonlyArray<string>
  readonly size: number
  readonly modified: number
}

class UnreadableFileError extends Schema.TaggedError<UnreadableFileError>()("UnreadableFileError", {
  message: Schema.String
}) {}

const unreadable = () => new UnreadableFileError({ message: "The file cannot be read" })

/** Bytes read at a time. */
const chunkSize = 256 * 1024

export const modifiedOf = ({ mtime }: FileSystem.File.Info): number =>
  Option.match(mtime, { onNone: () => 0, onSome: (date) => date.getTime() })

/** The bytes, read from the disk on demand; reading fails when the file has changed since. */
export const open = ({ path }: LocalFile) => Effect.tryPromise({ try: () => openFile(path), catch: unreadable })

/** The first bytes. */
export const head = (file: LocalFile, length: number) =>
  Effect.flatMap(open(file), (bytes) =>
    Effect.tryPromise({ try: () => bytes.slice(0, length).arrayBuffer(), catch: unreadable })
  )

/** Fails when the bytes can no longer be read because the file has changed since it was opened. */
export const checkReadable = (bytes: Blob) =>
  Effect.tryPromise({ try: () => bytes.slice(0, 1).arrayBuffer(), catch: unreadable })

/** The SHA-256 of the bytes, in hexadecimal digits. */
export const sha256 = Effect.fnUntraced(function* ({ path }: LocalFile) {
  const fs = yield* FileSystem.FileSystem
  const hash = createHash("sha256")
  yield* fs.stream(path, { chunkSize }).pipe(
    Stream.runForEach((chunk) => Effect.sync(() => hash.update(chunk))),
    Effect.mapError(unreadable)
  )
  return hash.digest("hex")
})

/** Whether the file has not been modified since it was found. */
export const isUnmodified = Effect.fnUntraced(function* ({ modified, path, size }: LocalFile) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.option(fs.stat(path))
  return Option.exists(info, (info) => Number(info.size) === size && modifiedOf(info) === modified)
})
