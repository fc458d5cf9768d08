import { Console, Effect, FileSystem, Option, Path, Schema, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import * as FileStore from "../../app/FileStore.ts"
import * as SnapshotImport from "../../backup/SnapshotImport.ts"
import { Settings } from "../../settings/Config.ts"
import { migrations } from "../../sql/Migrations.ts"
import { maintenanceClient } from "../../sql/connections/Maintenance.ts"
import { Storage } from "../../storage/Storage.ts"
import { toggle } from "../CommonFlags.ts"
import * as BackupFolder from "./BackupFolder.ts"
import * as Database from "../Database.ts"
import { CommandError } from "../Failures.ts"
import * as Progress from "../Progress.ts"

/** Files read concurrently. */
const concurrency = 4

const Format = Schema.fromJsonString(Schema.Struct({ format: Schema.Int, waypost: Schema.String }))

/** The verified manifest of a backup that this version can read. */
const readManifest = Effect.fnUntraced(function* (layout: BackupFolder.Layout) {
  const fs = yield* FileSystem.FileSystem
  const read = (file: string) =>
    fs
      .readFileString(file)
      .pipe(
        Effect.catchReason("PlatformError", "NotFound", () =>
          Effect.fail(BackupFolder.damaged(layout.folder, `it has no ${file.slice(layout.folder.length + 1)}`))
        )
      )
  const sum = yield* read(layout.manifestSum)
  const text = yield* read(layout.manifest)
  const damaged = BackupFolder.damaged(layout.folder, "manifest.json is damaged")
  if (BackupFolder.hexOf(text) !== sum.slice(0, 64)) return yield* damaged
  const { format, waypost } = yield* Effect.mapError(Schema.decodeEffect(Format)(text), () => damaged)
  const newer = new CommandError({
    message: `The backup was made by Waypost ${waypost}, which is newer than this version; restore it with that version or a newer one`
  })
  if (format > BackupFolder.format) return yield* newer
  const manifest = yield* Effect.mapError(Schema.decodeEffect(BackupFolder.Manifest)(text), () => damaged)
  const known = new Map(yield* Effect.map(migrations, (list) => list.map(([id, name]) => [id, name] as const)))
  const unknown = manifest.migrations.waypost.find(([id, name]) => known.get(id) !== name)
  if (unknown !== undefined) return yield* migratedByNewer(unknown)
  return manifest
})

/** An older version can make a backup after a newer one has migrated the database. */
const migratedByNewer = ([id, name]: readonly [number, string]) =>
  new CommandError({
    message:
      `The database of the backup was migrated by a newer Waypost (migration ${String(id).padStart(4, "0")}_${name}); ` +
      "restore it with that version or a newer one"
  })

/** Reads the whole backup and fails at the first file that differs from the manifest. */
const check = Effect.fnUntraced(function* (
  layout: BackupFolder.Layout,
  manifest: BackupFolder.Manifest,
  count: Progress.Count
) {
  const path = yield* Path.Path
  const onBytes = (bytes: number) => void (count.done += bytes)
  const verify = Effect.fnUntraced(function* (
    file: string,
    expected: { readonly bytes?: number; readonly sha256: string }
  ) {
    const name = path.relative(layout.folder, file)
    const found = yield* BackupFolder.sumOf(BackupFolder.read(file), onBytes).pipe(
      Effect.catchReason("PlatformError", "NotFound", () =>
        Effect.fail(BackupFolder.damaged(layout.folder, `${name} is missing`))
      )
    )
    if (found.sha256 === expected.sha256) return
    const how = expected.bytes !== undefined && found.bytes < expected.bytes ? "truncated" : "damaged"
    return yield* BackupFolder.damaged(layout.folder, `${name} is ${how}`)
  })
  yield* Effect.forEach(manifest.tables, (table) => verify(layout.table(table.name), table), { discard: true })
  yield* verify(layout.list, manifest.files.list)
  yield* BackupFolder.filesOf(layout).pipe(
    Stream.mapEffect(({ key, sha256, size }) => verify(layout.file(key), { bytes: size, sha256 }), {
      concurrency,
      unordered: true
    }),
    Stream.runDrain
  )
})

/** Whether the storage has the file already, for example when only the database was lost. */
const isStored = Effect.fnUntraced(function* ({ key, sha256, size }: BackupFolder.FileLine) {
  const storage = yield* Storage
  const found = yield* storage.size(key)
  if (found._tag === "None" || found.value !== size) return false
  return (yield* BackupFolder.sumOf(storage.read(key))).sha256 === sha256
})

const restoreFiles = Effect.fnUntraced(function* (layout: BackupFolder.Layout, count: Progress.Count) {
  const storage = yield* Storage
  yield* BackupFolder.filesOf(layout).pipe(
    Stream.mapEffect(
      Effect.fnUntraced(function* (file) {
        if (!(yield* isStored(file))) yield* storage.writeFile(file.key, layout.file(file.key), file.contentType)
        count.done += file.size
      }),
      { concurrency, unordered: true }
    ),
    Stream.runDrain
  )
})

/** Restores the files first, so that no record refers to a missing file, then the database in one transaction. */
const restoreBoth = Effect.fnUntraced(
  function* (
    layout: BackupFolder.Layout,
    manifest: BackupFolder.Manifest,
    count: Progress.Count,
    resumesWebhooks: boolean
  ) {
    const fs = yield* FileSystem.FileSystem
    yield* SnapshotImport.rehearse(manifest)
    yield* restoreFiles(layout, count)
    return yield* SnapshotImport.load({
      ...manifest,
      resumesWebhooks,
      rowsOf: (table) =>
        BackupFolder.lines(layout.table(table)).pipe(
          Stream.mapArray((some) => {
            for (const line of some) count.done += line.length
            return some
          }),
          Stream.provideService(FileSystem.FileSystem, fs)
        )
    })
  },
  Effect.catchTag("SnapshotImportError", ({ message, needsEmptyDatabase }) =>
    Effect.flatMap(Settings, ({ DATABASE_URL }) => {
      const another = Option.isSome(DATABASE_URL)
        ? "Set DATABASE_URL to a new, empty database"
        : "Set DATA_DIR to a new folder"
      const sentences = [message, "The database is unchanged", ...(needsEmptyDatabase ? [another] : [])]
      return Effect.fail(new CommandError({ message: sentences.join(". ") }))
    })
  )
)

const restore = Effect.fnUntraced(function* (folder: string, onlyCheck: boolean, resumesWebhooks: boolean) {
  const path = yield* Path.Path
  const layout = BackupFolder.layoutOf(path, path.resolve(folder))
  if (!onlyCheck) yield* Effect.provide(Effect.flatMap(FileStore.name, Database.printWithStorage), Settings.layer)
  const manifest = yield* readManifest(layout)
  const bytes = manifest.tables.reduce((sum, table) => sum + table.bytes, 0) + manifest.files.bytes
  const count: Progress.Count = { done: 0, total: onlyCheck ? bytes : 2 * bytes }
  const checked = check(layout, manifest, count)
  const work = onlyCheck
    ? Effect.as(checked, nothingLeftOut)
    : Effect.andThen(
        checked,
        restoreBoth(layout, manifest, count, resumesWebhooks).pipe(
          Effect.provide([maintenanceClient, FileStore.layer]),
          Effect.provide(Database.database)
        )
      )
  const { seconds, value: leftOut } = yield* work.pipe(
    Progress.show(() => ({ done: count.done, fraction: Progress.fractionOf(count), unit: "bytes" })),
    Progress.timed
  )
  const { changed, foreign } = leftOut
  const omitted = new Set([...changed, ...foreign])
  if (changed.length > 0) yield* Console.log(`Skipped: ${changed.join(", ")}, whose format has changed in this version`)
  if (foreign.length > 0)
    yield* Console.log(
      `Skipped: ${foreign.join(", ")}, which are not tables of Waypost; the rows are in ${path.join(layout.folder, "tables")}`
    )
  const tables = manifest.tables.filter(({ name }) => !omitted.has(name))
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  yield* Console.log(
    `${onlyCheck ? "Complete" : "Restored"}: ${Progress.count(rows)} rows of ${tables.length} tables and ` +
      `${Progress.count(manifest.files.count)} files, ${Progress.size(bytes)} in ${seconds.toFixed(1)} s`
  )
  if (!onlyCheck) {
    yield* Console.log(
      `Keys that were revoked or rotated since ${manifest.createdAt} work again; waypost keys list shows which are active`
    )
  }
})

const nothingLeftOut: SnapshotImport.LeftOut = { changed: [], foreign: [] }

/** `waypost restore <folder>` */
export const command = Command.make(
  "restore",
  {
    folder: Argument.String("folder").pipe(Argument.withDescription("A folder created by waypost backup")),
    check: toggle("check", "Only read the backup and check that it is complete"),
    resumeWebhooks: toggle("resume-webhooks", "Keep active webhooks active; without it every webhook is paused")
  },
  ({ check, folder, resumeWebhooks }) => restore(folder, check, resumeWebhooks)
).pipe(
  Command.withDescription(
    "Fill an empty database and the file storage from a backup of this or an older version, made with any PostgreSQL. A damaged backup or a database with records is rejected before anything is changed."
  ),
  Command.withExamples([{ command: "DATA_DIR=/var/lib/waypost-new waypost restore /backups/2027-01-31" }])
)
