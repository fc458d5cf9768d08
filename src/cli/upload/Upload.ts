import { Console, Effect, Layer, Option, Path, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { FetchHttpClient } from "effect/http"
import { Client } from "../../client/Client.ts"
import { requirePermissions } from "../../domain/keys/ApiKey.ts"
import type { Permission } from "../../domain/keys/Permission.ts"
import { numberTo, optionalText, toggle } from "../CommonFlags.ts"
import { assetName } from "./AssetName.ts"
import * as Connection from "../Connection.ts"
import { CommandError } from "../Failures.ts"
import * as LocalFiles from "./LocalFiles.ts"
import * as Progress from "../Progress.ts"
import * as RefusedFile from "../files/RefusedFile.ts"
import type * as FileUpload from "./FileUpload.ts"
import * as UploadAssets from "./UploadAssets.ts"
import * as FolderCategories from "./FolderCategories.ts"
import type { LocalFile } from "./LocalFile.ts"
import * as UploadJournal from "./UploadJournal.ts"
import * as UploadPlan from "./UploadPlan.ts"
import * as UploadReport from "./UploadReport.ts"

const description = `Creates an asset for every file in folders and their subfolders, or for single files.

Files whose content the service has already are skipped, and so are hidden files, empty files and links. Those that it has
under another name are listed. The name of an asset is that of its file, with spaces instead of separators. After an interruption the same command continues where it stopped; uploaded
files are not read again until they change. Refused files are listed in a file with the reasons, and the exit code is 1.`

const needed: ReadonlyArray<Permission> = ["create:uploads", "create:assets", "read:assets"]
const neededForCategories: ReadonlyArray<Permission> = ["read:meta-tags", "create:meta-tags"]

/** The locale of the names; fails unless the service accepts it and knows the categories. */
const localeFor = Effect.fnUntraced(function* (given: Option.Option<string>, categories: ReadonlyArray<string>) {
  const { assets } = yield* Client
  const check = (locale: string) =>
    Effect.as(
      assets.listMetaTags({ query: { locale, ...(categories.length > 0 ? { category: categories } : {}) } }),
      locale
    )
  if (Option.isSome(given)) return yield* check(given.value)
  // By default English, or the first supported locale.
  return yield* check("en").pipe(
    Effect.catchTag("InvalidLocaleError", (error) =>
      error.supported?.[0] === undefined ? Effect.fail(error) : check(error.supported[0])
    )
  )
})

interface Input {
  readonly categoriesFromFolders: boolean
  readonly category: ReadonlyArray<string>
  readonly concurrency: number
  readonly dryRun: boolean
  readonly force: boolean
  readonly keepDuplicates: boolean
  readonly locale: Option.Option<string>
  readonly paths: ReadonlyArray<string>
  readonly refused: Option.Option<string>
  readonly url: string
}

/** Prints what an upload would do. */
const preview = Effect.fnUntraced(function* (
  found: LocalFiles.Found,
  journalFile: string,
  folders: FolderCategories.Plan,
  { force, keepDuplicates }: Input
) {
  const { assets } = yield* Client
  const journal = yield* UploadJournal.read(journalFile)
  const planned = yield* UploadPlan.plan({ assets, force, journal, keepDuplicates }, found.files)
  for (const { key, name } of folders.missing) yield* Console.log(`would create the category "${name}" (${key})`)
  yield* UploadReport.printPlan(found, planned)
})

const send = Effect.fnUntraced(function* (
  found: LocalFiles.Found,
  journalFile: string,
  folders: FolderCategories.Plan,
  locale: string,
  { category, concurrency, force, keepDuplicates, paths, refused }: Input
) {
  const path = yield* Path.Path
  const refusedFile = yield* RefusedFile.pathOf(refused, LocalFiles.refusedFileName(path.resolve(paths[0]!)))
  const write = yield* RefusedFile.make(refusedFile)
  const journal = yield* UploadJournal.open(journalFile)
  const summary = UploadAssets.emptySummary()
  const uploadAll = yield* UploadAssets.uploadAll({ concurrency, force, keepDuplicates, journal, summary })
  const rejected: Array<LocalFiles.RejectedFile> = []
  const uploaded: Array<LocalFile> = []
  const duplicates: Array<UploadReport.Duplicate> = []
  const reject = (file: LocalFiles.RejectedFile) => {
    rejected.push(file)
    return write({ path: file.shown, reasons: file.reasons })
  }
  const settled = ([{ file }, result]: readonly [FileUpload.Source, FileUpload.Outcome]) => {
    if (result.outcome === "refused") return reject({ shown: file.shown, reasons: result.reasons })
    if (result.outcome === "uploaded") uploaded.push(file)
    else if (result.sameAs !== undefined) duplicates.push({ shown: file.shown, sameAs: result.sameAs })
    return Effect.void
  }
  const sources = found.files.map((file): FileUpload.Source => {
    const categories = [...category, ...Option.toArray(Option.fromUndefinedOr(folders.keys.get(file.path)))]
    return { file, asset: { translations: [{ locale, name: assetName(file.name) }], categories } }
  })
  yield* FolderCategories.create(folders, locale)
  yield* Effect.forEach(found.unreadable, reject, { discard: true })
  const { seconds } = yield* uploadAll(sources).pipe(
    Stream.runForEach(settled),
    Progress.show(() => {
      const whole = summary.sent + summary.left
      return { unit: "bytes", done: summary.sent, fraction: Progress.fractionOf({ done: summary.sent, total: whole }) }
    }),
    Progress.timed,
    Effect.onInterrupt(() => Console.error("Interrupted; run the same command again to continue"))
  )
  yield* UploadReport.printContradictions(uploaded)
  yield* UploadReport.printSkipped(found)
  yield* UploadReport.printRefused(rejected)
  yield* UploadReport.printDuplicates(duplicates)
  yield* Console.log(
    UploadReport.report({ ...summary, refused: rejected.length, skipped: found.skipped.length }, seconds)
  )
  if (rejected.length > 0) {
    const message = `Some files were refused; the reasons are in ${refusedFile}`
    return yield* new CommandError({ message })
  }
}, Effect.scoped)

const upload = Effect.fnUntraced(function* (input: Input) {
  const { apiKeys } = yield* Client
  const found = yield* LocalFiles.find(input.paths)
  const key = yield* apiKeys.me()
  const required = input.categoriesFromFolders ? [...needed, ...neededForCategories] : needed
  yield* requirePermissions(new Set(key.permissions), required)
  const locale = yield* localeFor(input.locale, input.category)
  const journalFile = yield* UploadJournal.fileOf(key, yield* Connection.baseUrlOf(input.url))
  const folders = input.categoriesFromFolders ? yield* FolderCategories.plan(found.files) : FolderCategories.none
  yield* input.dryRun ? preview(found, journalFile, folders, input) : send(found, journalFile, folders, locale, input)
})

/** `waypost upload PATH...` */
export const command = Command.provide(
  Command.make(
    "upload",
    {
      paths: Argument.String("path").pipe(
        Argument.withDescription("Folders and files to upload"),
        Argument.variadic({ min: 1 })
      ),
      category: Flag.String("category").pipe(
        Flag.withDescription("The key of a category of the assets; may be given several times"),
        Flag.atLeast(0)
      ),
      categoriesFromFolders: toggle(
        "categories-from-folders",
        "Put each asset into a category named after its folder; missing categories are created"
      ),
      locale: optionalText("locale", "The locale of the names; default: en, or the first supported locale"),
      dryRun: toggle("dry-run", "Only list what would be uploaded; the files are read and compared with the service"),
      force: toggle("force", "Also upload files whose content the service has already"),
      keepDuplicates: toggle("keep-duplicates", "Also upload files whose content the service has under another name"),
      concurrency: numberTo("concurrency", "Files uploaded concurrently, and parts of each", 16, 4),
      refused: optionalText("refused", "The file that lists refused files; default: <path>.refused.ndjson"),
      ...Connection.flags
    },
    upload
  ).pipe(
    Command.withDescription(description),
    Command.withExamples([
      { command: "waypost upload photos --category posters --locale en --dry-run" },
      { command: "waypost upload photos --categories-from-folders" }
    ])
  ),
  (input) => Layer.merge(Connection.layer(input), FetchHttpClient.layer)
)
