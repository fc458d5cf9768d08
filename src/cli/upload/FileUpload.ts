import { Effect, type FileSystem, Option, Result, Schema, Struct } from "effect"
import mime from "mime-types"
import type { Client } from "../../client/Client.ts"
import type { AssetCreate, AssetId } from "../../domain/assets/Asset.ts"
import type { FileId } from "../../domain/assets/File.ts"
import { UploadInit } from "../../domain/assets/Upload.ts"
import { concernsAll, type Failure, hasIssue, persistently, reasonsOf } from "../Failures.ts"
import * as LocalFile from "./LocalFile.ts"
import * as SameContent from "./SameContent.ts"
import { type Reason, reasonsIn } from "../files/Row.ts"
import type * as InOrder from "../InOrder.ts"
import type { Journal, Known } from "./UploadJournal.ts"
import type * as UploadSession from "./UploadSession.ts"

/** A file, and the members of its asset. */
export interface Source {
  readonly file: LocalFile.LocalFile
  readonly asset: Omit<AssetCreate, "fileUuid">
}

/**
 * The result for a file: its new or existing asset, or the reasons of its rejection. `sameAs` is the name of the file of an
 * existing asset, if it is another one.
 */
export type Outcome =
  | { readonly outcome: "uploaded" | "present"; readonly asset: AssetId; readonly sameAs?: string }
  | { readonly outcome: "refused"; readonly reasons: ReadonlyArray<Reason> }

const isUnchanged = (known: Known | undefined, { modified, size }: LocalFile.LocalFile): known is Known =>
  known !== undefined && known.size === size && known.modified === modified

/** What an upload does with content that the service has already. */
export interface Duplicates {
  /** Also uploads it. */
  readonly force: boolean
  /** Also uploads it if its file has another name. */
  readonly keepDuplicates: boolean
}

const presentIn = ({ asset, sameAs }: Pick<Known, "asset" | "sameAs">, { force, keepDuplicates }: Duplicates) =>
  asset === undefined || force || (keepDuplicates && sameAs !== undefined)
    ? undefined
    : { outcome: "present" as const, asset, ...(sameAs === undefined ? {} : { sameAs }) }

/** The asset of an unchanged file, according to the journal. */
export const presentBefore = (journal: Journal, file: LocalFile.LocalFile, duplicates: Duplicates) => {
  const known = journal.find(file.path)
  return isUnchanged(known, file) ? presentIn(known, duplicates) : undefined
}

/** The SHA-256 of a file, from the journal if the file is unchanged. */
export const sha256Of = (journal: Journal, file: LocalFile.LocalFile) => {
  const known = journal.find(file.path)
  return isUnchanged(known, file) ? Effect.succeed(known.sha256) : LocalFile.sha256(file)
}

/** Whether the failure affects every other file as well. */
const stops = (failure: Failure) =>
  concernsAll(failure) ||
  ["InvalidAssetCategoriesError", "InvalidLocaleError", "MetaTagValidationError", "RateLimitExceededError"].includes(
    failure._tag
  ) ||
  hasIssue(failure, "tooManyOpen")

const decodeInit = Schema.decodeUnknownResult(UploadInit, { errors: "all" })

/** The upload request of a file, validated with the schema of the service. */
export const initOf = ({ name, size }: LocalFile.LocalFile): Result.Result<UploadInit, ReadonlyArray<Reason>> => {
  const contentType = mime.lookup(name)
  const init = { fileName: name, fileSize: size, ...(contentType === false ? {} : { contentType }) }
  return Result.mapError(decodeInit(init), ({ issue }) => reasonsIn(issue))
}

const changed: Outcome = {
  outcome: "refused",
  reasons: [{ code: "changed", message: "The file changed during the upload; run the command again" }]
}

/** What the uploads of all files share. */
export interface Uploader extends Duplicates {
  readonly journal: Journal
  readonly assets: Client["Service"]["assets"]
  readonly session: UploadSession.UploadSession
  readonly inTurn: ReturnType<typeof InOrder.make>
}

/** A file with its upload request and content; `known` names the session of an earlier run when the content is unchanged. */
interface Task extends Source {
  readonly init: UploadInit
  readonly content: UploadSession.Content
  readonly known: Known
  readonly force: boolean
}

const contentOf = Struct.pick<Known, readonly ["size", "modified", "sha256"]>(["size", "modified", "sha256"])

const finished = Effect.fnUntraced(function* (
  { journal }: Uploader,
  { file, known }: Task,
  outcome: "uploaded" | "present",
  { asset, fileName }: SameContent.Same
) {
  const other = fileName === file.name ? {} : { sameAs: fileName }
  yield* journal.note(file.path, { ...contentOf(known), asset, ...other })
  return { outcome, asset, ...other } satisfies Outcome
})

const createAsset = (uploader: Uploader, task: Task, fileUuid: FileId): Effect.Effect<Outcome, Failure> =>
  persistently(uploader.assets.create({ payload: { ...task.asset, fileUuid } })).pipe(
    Effect.flatMap(({ uuid }) => finished(uploader, task, "uploaded", { asset: uuid, fileName: task.file.name })),
    // An earlier attempt created the asset and its response was lost: find the asset by its content.
    Effect.catchIf(
      (failure) => hasIssue(failure, "notUnique"),
      () => begin(uploader, { ...task, force: false })
    )
  )

/** Uploads a file from the start, or returns the asset that has the same content already. */
const begin = (uploader: Uploader, task: Task): Effect.Effect<Outcome, Failure> =>
  Effect.gen(function* () {
    const { assets, journal, keepDuplicates, session } = uploader
    const { name } = task.file
    const known = contentOf(task.known)
    const begun = yield* session.begin({ ...task.init, sha256: known.sha256 })
    if (!task.force && begun.duplicateOf !== undefined) {
      const same = yield* SameContent.find(assets, known.sha256, name)
      if (same !== undefined && (same.fileName === name || !keepDuplicates)) {
        yield* session.abort(begun.uuid)
        return yield* finished(uploader, task, "present", same)
      }
    }
    yield* journal.note(task.file.path, { ...known, session: begun.uuid })
    const fileUuid = yield* session.finish(begun, begun.parts, [], task.content)
    return yield* createAsset(uploader, { ...task, known }, fileUuid)
  })

/** Resumes the session of an earlier run; begins again when it has expired. */
const send = (uploader: Uploader, task: Task): Effect.Effect<Outcome, Failure> =>
  Effect.gen(function* () {
    if (task.known.session === undefined) return yield* begin(uploader, task)
    const fileUuid = yield* uploader.session.resume(task.known.session, task.content)
    if (Option.isNone(fileUuid)) return yield* begin(uploader, task)
    return yield* Effect.catchIf(
      createAsset(uploader, task, fileUuid.value),
      (failure) => failure._tag === "FileNotFoundError",
      () => begin(uploader, task)
    )
  })

/** Uploads a file unless the journal has its asset; files of the same content wait for each other, in the order of the calls. */
export const settle = Effect.fnUntraced(function* (
  uploader: Uploader,
  source: Source,
  progress: Omit<UploadSession.Content, "bytes">
): Effect.fn.Return<Outcome, Failure, FileSystem.FileSystem> {
  const { force, inTurn, journal, session } = uploader
  const { file } = source
  const { modified, path, size } = file
  const present = presentBefore(journal, file, uploader)
  if (present !== undefined) return present
  const init = initOf(file)
  if (Result.isFailure(init)) return { outcome: "refused", reasons: init.failure }
  const content = { ...progress, bytes: yield* LocalFile.open(file) }
  // Of files with the same content the first one is uploaded, however long the others take to read.
  const { sha256, turn } = yield* inTurn(`size ${size}`)(
    Effect.map(sha256Of(journal, file), (sha256) => ({ sha256, turn: inTurn(sha256) }))
  )
  const settled = Effect.gen(function* () {
    const known = journal.find(path)
    const current: Known = { size, modified, sha256 }
    const hasSameContent = known?.sha256 === sha256
    const touched = hasSameContent ? presentIn(known, uploader) : undefined
    if (touched !== undefined) {
      yield* journal.note(path, { ...known, ...current })
      return touched
    }
    if (!hasSameContent && known?.session !== undefined) yield* session.abort(known.session)
    const resumed = hasSameContent && known.asset === undefined ? { ...known, ...current } : current
    return yield* send(uploader, { ...source, init: init.success, content, known: resumed, force })
  })
  return yield* turn(settled)
})

/** Removes a refused file from the journal, so that the next run attempts it again; fails when all files are affected. */
export const reject = Effect.fnUntraced(function* ({ journal }: Uploader, { file }: Source, failure: Failure) {
  const isSame = yield* LocalFile.isUnmodified(file)
  if (isSame && stops(failure)) return yield* Effect.fail(failure)
  yield* journal.note(file.path, undefined)
  return isSame ? ({ outcome: "refused", reasons: reasonsOf(failure) } satisfies Outcome) : changed
})
