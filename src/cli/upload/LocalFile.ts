import { Effect, FileSystem, Option, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { openAsBlob } from "node:fs"

/** A file on this machine; `size` in bytes, `modified` in milliseconds since 1970. */
export interface LocalFile {
  readonly path: string
  /** As it was asked for, for people. */
  readonly shown: string
  readonly name: string
  readonly size: number
  readonly modified: number
}

class UnreadableFileError extends Schema.TaggedError<UnreadableFileError>()("UnreadableFileError", {
  message: Schema.String
}) {}

const unreadable = () => new UnreadableFileError({ message: "The file cannot be read" })

/** How much of a file is read at a time, in bytes. */
const chunkSize = 256 * 1024

export const modifiedOf = ({ mtime }: FileSystem.File.Info): number =>
  Option.match(mtime, { onNone: () => 0, onSome: (date) => date.getTime() })

/** The bytes, read from the disk when they are asked for; reading fails when the file has changed since. */
export const open = ({ path }: LocalFile) => Effect.tryPromise({ try: () => openAsBlob(path), catch: unreadable })

/** Fails when bytes that are in a file can no longer be read, because it has changed since it was opened. */
export const stillReadable = (bytes: Blob) =>
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

/** Whether nobody has written to the file since it was found. */
export const isAsItWas = Effect.fnUntraced(function* ({ modified, path, size }: LocalFile) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.option(fs.stat(path))
  return Option.exists(info, (info) => Number(info.size) === size && modifiedOf(info) === modified)
})
