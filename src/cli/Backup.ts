import { Console, DateTime, Effect, FileSystem, Layer, Option, Path, type PlatformError, Schema, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { SqlClient } from "effect/sql"
import { storageKey } from "../domain/File.ts"
import * as FileStore from "../FileStore.ts"
import * as Catalogue from "../repositories/Catalogue.ts"
import type { Table } from "../repositories/Catalogue.ts"
import * as Snapshot from "../repositories/Snapshot.ts"
import { patientClient } from "../repositories/Sql.ts"
import { Storage } from "../storage/Storage.ts"
import { version } from "../Version.ts"
import * as BackupFolder from "./BackupFolder.ts"
import { CommandError } from "./Failures.ts"
import * as Progress from "./Progress.ts"

/** How many files are copied at once. */
const atOnce = 4

interface Count {
  done: number
  total: number | undefined
}

const encoder = new TextEncoder()

const toBytes = <E, R>(lines: Stream.Stream<string, E, R>, seen: (lines: number) => void = () => undefined) =>
  Stream.mapArray(lines, (some) => {
    seen(some.length)
    return [encoder.encode(`${some.join("\n")}\n`)]
  })

/** Everything the database holds at one moment; tells what a manifest says of it. */
const writeDatabase = Effect.fnUntraced(function* (
  layout: BackupFolder.Layout,
  count: Count,
  known: ReadonlyArray<Table>
) {
  const sql = yield* SqlClient.SqlClient
  const migrations = yield* Catalogue.applied
  if (migrations.waypost.length === 0) {
    return yield* new CommandError({
      message: "There is no Waypost in this database; set DATA_DIR or DATABASE_URL as the service has it"
    })
  }
  const tables = yield* Effect.forEach(
    known,
    Effect.fnUntraced(function* (table) {
      let rows = 0
      const lines = toBytes(Snapshot.rows(table), (some) => void (rows += some))
      const { bytes, sha256 } = yield* BackupFolder.write(layout.table(table.name), lines)
      count.done += bytes
      return { name: table.name, columns: table.columns.map(({ name }) => name), rows, bytes, sha256 }
    })
  )
  const files = { count: 0, bytes: 0 }
  let unattached = 0
  const list = Snapshot.files.pipe(
    Stream.map(({ contentType, sha256, size, unattached: isUnattached, uuid }) => {
      files.count++
      if (isUnattached) unattached++
      files.bytes += Number(size)
      return JSON.stringify({
        key: storageKey(uuid),
        size: Number(size),
        sha256,
        contentType
      } satisfies BackupFolder.FileLine)
    })
  )
  const { sha256 } = yield* BackupFolder.write(layout.list, toBytes(list))
  count.total = count.done + files.bytes
  const [server] = yield* sql<{ readonly version: string }>`select current_setting('server_version') as version`
  const sequences = yield* Catalogue.sequences
  const content = { postgres: server!.version, migrations, tables, sequences, files: { ...files, list: { sha256 } } }
  return { content, unattached }
})

/** The bytes of the files, which are checked against what the database knows of them. */
const writeFiles = Effect.fnUntraced(function* (
  layout: BackupFolder.Layout,
  count: Count,
  list: Stream.Stream<BackupFolder.FileLine, PlatformError.PlatformError, FileSystem.FileSystem>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const storage = yield* Storage
  const folders = new Set([layout.files])
  yield* list.pipe(
    Stream.mapEffect(
      Effect.fnUntraced(function* ({ key, sha256, size }) {
        const target = layout.file(key)
        yield* fs.makeDirectory(path.dirname(target), { recursive: true, mode: 0o700 })
        folders.add(path.dirname(target)).add(path.dirname(path.dirname(target)))
        const bytes = Stream.tap(storage.read(key), (chunk) => Effect.sync(() => void (count.done += chunk.length)))
        const written = yield* BackupFolder.write(target, bytes).pipe(
          Effect.catchTag("StorageUnavailableError", ({ message }) =>
            Effect.fail(new CommandError({ message: `The file ${key} cannot be read: ${message}. ${unsound}` }))
          )
        )
        if (written.bytes === size && written.sha256 === sha256) return
        return yield* new CommandError({ message: `The file ${key} is not the one that was uploaded. ${unsound}` })
      }),
      { concurrency: atOnce, unordered: true }
    ),
    Stream.runDrain
  )
  yield* Effect.forEach(folders, BackupFolder.syncFolder, { discard: true })
})

const unsound =
  "There is no backup without it; put it back from an older one, or delete what uses it and see that the disk is sound"

const writeManifest = Effect.fnUntraced(function* (layout: BackupFolder.Layout, manifest: BackupFolder.Manifest) {
  const bytes = encoder.encode(`${yield* Effect.orDie(Schema.encodeEffect(BackupFolder.Manifest)(manifest))}\n`)
  yield* BackupFolder.write(layout.manifest, Stream.succeed(bytes))
  const sum = encoder.encode(`${BackupFolder.hexOf(bytes)}  manifest.json\n`)
  yield* BackupFolder.write(layout.manifestSum, Stream.succeed(sum))
})

/**
 * A new folder under a temporary name beside its own, which it gets when it is whole and on the disk. What is left of one
 * that was killed keeps its temporary name.
 */
const whole = <A, E, R>(target: string, fill: (folder: string) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const parent = path.dirname(target)
    yield* fs.makeDirectory(parent, { recursive: true, mode: 0o700 })
    const taken = new CommandError({ message: `${target} is there already; name a folder that is not` })
    if (yield* fs.exists(target)) return yield* taken
    return yield* Effect.acquireUseRelease(
      fs.makeTempDirectory({ directory: parent, prefix: `${path.basename(target)}.partial-` }),
      Effect.fnUntraced(function* (folder) {
        const result = yield* fill(folder)
        yield* BackupFolder.syncFolder(folder)
        yield* fs.rename(folder, target)
        yield* BackupFolder.syncFolder(parent)
        return result
      }),
      (folder) => Effect.ignore(fs.remove(folder, { recursive: true, force: true }))
    )
  })

/**
 * First the database and then the files: a file never changes, and stays for a week when nothing has it any more. Those
 * whose week may end meanwhile are held, and copied before the others, so that they are not held for long.
 */
const backup = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const target = path.resolve(folder)
  const count: Count = { done: 0, total: undefined }
  // Two connections: the rows that are held and the snapshot are two transactions.
  const holder = yield* Layer.build(patientClient)
  const reader = yield* Layer.build(Layer.fresh(patientClient))
  const { seconds, value } = yield* whole(
    target,
    Effect.fnUntraced(function* (folder) {
      const layout = BackupFolder.layoutOf(path, folder)
      yield* fs.makeDirectory(path.join(folder, "tables"), { mode: 0o700 })
      yield* fs.makeDirectory(layout.files, { mode: 0o700 })
      const createdAt = DateTime.formatIso(yield* DateTime.now)
      const files = BackupFolder.filesOf(layout)
      const { content, unattached } = yield* Snapshot.snapshot((tables) => writeDatabase(layout, count, tables)).pipe(
        Effect.provide(reader),
        Effect.tap(({ unattached }) => writeFiles(layout, count, Stream.take(files, unattached))),
        Snapshot.holding,
        Effect.provide(holder),
        Effect.catchTag("SnapshotError", ({ message }) => Effect.fail(new CommandError({ message })))
      )
      yield* writeFiles(layout, count, Stream.drop(files, unattached))
      yield* BackupFolder.syncFolder(path.join(folder, "tables"))
      yield* writeManifest(layout, { format: BackupFolder.format, waypost: version, createdAt, ...content })
      return content
    })
  ).pipe(
    Progress.show(() => ({
      done: count.done,
      fraction: Option.getOrUndefined(Option.map(Option.fromUndefinedOr(count.total), (total) => count.done / total)),
      unit: "bytes"
    })),
    Progress.timed
  )
  const rows = value.tables.reduce((sum, table) => sum + table.rows, 0)
  yield* Console.log(
    `${target}: ${Progress.count(rows)} rows of ${value.tables.length} tables and ${Progress.count(value.files.count)} ` +
      `files, ${Progress.size(count.done)} in ${seconds.toFixed(1)} s`
  )
}, Effect.scoped)

/** `waypost backup <folder>` */
export const command = Command.make(
  "backup",
  {
    folder: Argument.String("folder").pipe(
      Argument.withDescription("The folder to make; it appears under its name when it is whole")
    )
  },
  ({ folder }) => Effect.provide(backup(folder), FileStore.layer)
).pipe(
  Command.withDescription(
    "Copy the database and the files into a new folder, while the service runs or not. It holds hashes of keys and data of people: keep it private."
  ),
  Command.withShortDescription("Copy the database and the files into a folder"),
  Command.withExamples([{ command: "waypost backup /backups/$(date +%F)" }])
)
