import { Console, DateTime, Effect, FileSystem, Layer, Path, Schema, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { storageKey } from "../../domain/assets/File.ts"
import * as FileStore from "../../app/FileStore.ts"
import * as Introspection from "../../backup/Introspection.ts"
import * as Snapshot from "../../backup/Snapshot.ts"
import { maintenanceClient } from "../../sql/connections/Maintenance.ts"
import { version } from "../../settings/Version.ts"
import * as BackupFiles from "./BackupFiles.ts"
import * as BackupFolder from "./BackupFolder.ts"
import * as Database from "../Database.ts"
import { CommandError } from "../Failures.ts"
import * as Progress from "../Progress.ts"

const encoder = new TextEncoder()

/** Writes all tables and the list of files, and returns their part of the manifest. */
const writeDatabase = Effect.fnUntraced(function* (
  layout: BackupFolder.Layout,
  count: Progress.Count,
  known: ReadonlyArray<Introspection.Table>,
  migrations: Introspection.Migrations
) {
  if (migrations.waypost.length === 0) {
    return yield* new CommandError({
      message: "The database has no Waypost tables; set DATA_DIR or DATABASE_URL to those of the service"
    })
  }
  const tables = yield* Effect.forEach(
    known,
    Effect.fnUntraced(function* (table) {
      let rows = 0
      const { bytes, sha256 } = yield* BackupFolder.writeLines(
        layout.table(table.name),
        Snapshot.rows(table),
        (some) => void (rows += some)
      )
      count.done += bytes
      return { name: table.name, columns: table.columns.map(({ name }) => name), rows, bytes, sha256 }
    })
  )
  let unused = 0
  const files = yield* BackupFolder.writeList(
    layout.list,
    Stream.map(Snapshot.files, ({ contentType, sha256, size, unattached, uuid }) => {
      if (unattached) unused++
      return { key: storageKey(uuid), size: Number(size), sha256, contentType }
    })
  )
  count.total = count.done + files.bytes
  const postgres = yield* Introspection.serverVersion
  const sequences = yield* Introspection.sequences
  return { content: { postgres, migrations, tables, sequences, files }, unused }
})

const writeManifest = Effect.fnUntraced(function* (layout: BackupFolder.Layout, manifest: BackupFolder.Manifest) {
  const bytes = encoder.encode(`${yield* Effect.orDie(Schema.encodeEffect(BackupFolder.Manifest)(manifest))}\n`)
  yield* BackupFolder.write(layout.manifest, Stream.succeed(bytes))
  const sum = encoder.encode(`${BackupFolder.hexOf(bytes)}  manifest.json\n`)
  yield* BackupFolder.write(layout.manifestSum, Stream.succeed(sum))
})

/**
 * Fills a new folder under a temporary name and renames it to `target` when it is complete and flushed to the disk. An
 * interrupted backup keeps its temporary name.
 */
const atomicFolder = <A, E, R>(target: string, fill: (folder: string) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const parent = path.dirname(target)
    yield* fs.makeDirectory(parent, { recursive: true, mode: 0o700 })
    const exists = new CommandError({ message: `${target} exists; choose a folder that does not exist` })
    if (yield* fs.exists(target)) return yield* exists
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
 * Copies the database first and the files second: files never change, and unused ones are kept for a week. Files that are
 * unused already are locked against the sweeper and copied first, so that the locks are short.
 */
const backup = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const target = path.resolve(folder)
  const count: Progress.Count = { done: 0, total: undefined }
  // The locks and the snapshot are two transactions and need two connections.
  const locking = yield* Layer.build(maintenanceClient)
  const reading = yield* Layer.build(Layer.fresh(maintenanceClient))
  const { seconds, value } = yield* atomicFolder(
    target,
    Effect.fnUntraced(function* (folder) {
      const layout = BackupFolder.layoutOf(path, folder)
      yield* fs.makeDirectory(path.join(folder, "tables"), { mode: 0o700 })
      yield* fs.makeDirectory(layout.files, { mode: 0o700 })
      const createdAt = DateTime.formatIso(yield* DateTime.now)
      const list = BackupFolder.filesOf(layout)
      const { content, lost, unused } = yield* Snapshot.holding((migrations) =>
        Snapshot.snapshot((tables) => writeDatabase(layout, count, tables, migrations)).pipe(
          Effect.provide(reading),
          Effect.bind("lost", ({ unused }) => BackupFiles.copyUnused(layout, Stream.take(list, unused), count))
        )
      ).pipe(
        Effect.provide(locking),
        Effect.catchTag("SnapshotError", ({ message }) => Effect.fail(new CommandError({ message })))
      )
      yield* BackupFiles.copyUsed(layout, Stream.drop(list, unused), count)
      const files =
        lost.length === 0 ? content.files : yield* BackupFolder.shortenList(layout, new Set(lost.map(({ key }) => key)))
      yield* BackupFolder.syncFolder(path.join(folder, "tables"))
      yield* writeManifest(layout, { format: BackupFolder.format, waypost: version(), createdAt, ...content, files })
      return { tables: content.tables, files, lost }
    })
  ).pipe(
    Progress.show(() => ({ done: count.done, fraction: Progress.fractionOf(count), unit: "bytes" })),
    Progress.timed
  )
  if (value.lost.length > 0) yield* Console.log(leftOutMessage(value.lost))
  const rows = value.tables.reduce((sum, table) => sum + table.rows, 0)
  yield* Console.log(
    `${target}: ${Progress.count(rows)} rows of ${value.tables.length} tables and ${Progress.count(value.files.count)} ` +
      `files, ${Progress.size(count.done)} in ${seconds.toFixed(1)} s`
  )
}, Effect.scoped)

const leftOutMessage = (lost: ReadonlyArray<BackupFiles.LostFile>) => {
  const some = lost.slice(0, 20).map(({ key, why }) => `${key} is ${why}`)
  const more = lost.length > some.length ? `, and ${lost.length - some.length} more` : ""
  return (
    `Skipped unused files: ${some.join(", ")}${more}. The service deletes their records a week after they were last ` +
    "used; check the storage"
  )
}

/** `waypost backup <folder>` */
export const command = Command.make(
  "backup",
  {
    folder: Argument.String("folder").pipe(
      Argument.withDescription("The folder to create; it appears under its name when the backup is complete")
    )
  },
  ({ folder }) =>
    Effect.andThen(
      Effect.flatMap(FileStore.name, Database.printWithStorage),
      Effect.provide(backup(folder), FileStore.layer)
    )
).pipe(
  Command.withDescription(
    "Copy the database and the files into a new folder; the service may run. The backup contains hashes of keys and personal data: keep it private."
  ),
  Command.withExamples([{ command: "waypost backup /backups/$(date +%F)" }]),
  Command.provide(Database.existing)
)
