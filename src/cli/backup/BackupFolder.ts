import { Effect, FileSystem, type Path, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { isObjectKey } from "../../storage/ObjectKey.ts"
import { CommandError, inFile } from "../Failures.ts"

/** The version of the folder format; changes when older versions of Waypost can no longer read it. */
export const format = 1

const Applied = Schema.Array(Schema.Tuple([Schema.Int, Schema.String]))

/** The content of a backup, written last: a folder without a manifest is no backup. Sizes are in bytes. */
export const Manifest = Schema.fromJsonString(
  Schema.Struct({
    format: Schema.Int,
    waypost: Schema.String,
    postgres: Schema.String,
    createdAt: Schema.String,
    migrations: Schema.Struct({ waypost: Applied, jobs: Applied }),
    tables: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        columns: Schema.Array(Schema.String),
        rows: Schema.Int,
        bytes: Schema.Int,
        sha256: Schema.String
      })
    ),
    sequences: Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.String, called: Schema.Boolean })),
    files: Schema.Struct({ count: Schema.Int, bytes: Schema.Int, list: Schema.Struct({ sha256: Schema.String }) })
  })
)
export type Manifest = typeof Manifest.Type

/** A line of the list of files. */
export const FileLine = Schema.fromJsonString(
  Schema.Struct({
    key: Schema.String.check(Schema.makeFilter(isObjectKey)),
    size: Schema.Int,
    sha256: Schema.String,
    contentType: Schema.String
  })
)
export type FileLine = typeof FileLine.Type

const lineOf = ({ contentType, key, sha256, size }: FileLine) => JSON.stringify({ key, size, sha256, contentType })

/** The paths inside a backup. */
export const layoutOf = (path: Path.Path, folder: string) => ({
  folder,
  manifest: path.join(folder, "manifest.json"),
  manifestSum: path.join(folder, "manifest.json.sha256"),
  list: path.join(folder, "files.ndjson"),
  files: path.join(folder, "files"),
  table: (name: string) => path.join(folder, "tables", `${encodeURIComponent(name)}.ndjson`),
  file: (key: string) => path.join(folder, "files", key)
})
export type Layout = ReturnType<typeof layoutOf>

export const hexOf = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex")

/** The number and the SHA-256 of bytes; `onBytes` receives the size of each chunk. */
export const sumOf = Effect.fnUntraced(function* <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  onBytes: (bytes: number) => void = () => undefined
) {
  const hash = createHash("sha256")
  let size = 0
  yield* Stream.runForEach(bytes, (chunk) =>
    Effect.sync(() => {
      hash.update(chunk)
      size += chunk.length
      onBytes(chunk.length)
    })
  )
  return { bytes: size, sha256: hash.digest("hex") }
})

/** Writes a new file of mode 0600, flushes it to the disk and returns its size and SHA-256. */
export const write = Effect.fnUntraced(function* <E, R>(file: string, bytes: Stream.Stream<Uint8Array, E, R>) {
  const fs = yield* FileSystem.FileSystem
  const handle = yield* fs.open(file, { flag: "wx", mode: 0o600 })
  const written = yield* sumOf(Stream.tap(bytes, (chunk) => Effect.mapError(handle.writeAll(chunk), inFile(file))))
  yield* Effect.mapError(handle.sync, inFile(file))
  return written
}, Effect.scoped)

const encoder = new TextEncoder()

/** Writes lines like `write`; `onLines` receives the number of each batch. */
export const writeLines = <E, R>(
  file: string,
  lines: Stream.Stream<string, E, R>,
  onLines: (lines: number) => void = () => undefined
) =>
  write(
    file,
    Stream.mapArray(lines, (some) => {
      onLines(some.length)
      return [encoder.encode(`${some.join("\n")}\n`)]
    })
  )

/** Writes the list of files and returns its part of the manifest. */
export const writeList = Effect.fnUntraced(function* <E, R>(file: string, files: Stream.Stream<FileLine, E, R>) {
  let [count, bytes] = [0, 0]
  const lines = Stream.map(files, (line) => {
    count++
    bytes += line.size
    return lineOf(line)
  })
  const { sha256 } = yield* writeLines(file, lines)
  return { count, bytes, list: { sha256 } } satisfies Manifest["files"]
})

/** Rewrites the list without some of its files. */
export const shortenList = Effect.fnUntraced(function* (layout: Layout, without: ReadonlySet<string>) {
  const fs = yield* FileSystem.FileSystem
  const rest = `${layout.list}.rest`
  const files = yield* writeList(
    rest,
    Stream.filter(filesOf(layout), ({ key }) => !without.has(key))
  )
  yield* fs.rename(rest, layout.list)
  return files
})

/** Flushes the directory entries of a folder. */
export const syncFolder = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const handle = yield* fs.open(folder, { flag: "r" })
  yield* Effect.mapError(handle.sync, inFile(folder))
}, Effect.scoped)

/** The bytes of a file. */
export const read = (file: string) =>
  Stream.unwrap(
    Effect.map(FileSystem.FileSystem, (fs) => Stream.mapError(fs.stream(file, { chunkSize: 256 * 1024 }), inFile(file)))
  )

export const lines = (file: string) => read(file).pipe(Stream.decodeText, Stream.splitLines)

/** The files of a backup whose list has been verified. */
export const filesOf = (layout: Layout) =>
  lines(layout.list).pipe(Stream.mapEffect((line) => Effect.orDie(Schema.decodeEffect(FileLine)(line))))

/** The folder is no backup, or a damaged one. */
export const damaged = (folder: string, why: string) =>
  new CommandError({ message: `${folder} is not a complete backup: ${why}. Nothing was changed; use another backup` })
