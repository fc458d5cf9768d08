import { Effect, type FileSystem, Option, Result, Schema, Struct } from "effect"
import mime from "mime-types"
import type { Client } from "../../client/Client.ts"
import { type AssetCreate, AssetId } from "../../domain/assets/Asset.ts"
import type { FileId } from "../../domain/assets/File.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { UploadInit } from "../../domain/assets/Upload.ts"
import { describe } from "../../domain/write/Issues.ts"
import { concernsAll, type Failure, persistently, reasonsOf } from "../Failures.ts"
import * as LocalFile from "./LocalFile.ts"
import type { Reason } from "../transfer/Row.ts"
import type * as Turns from "./Turns.ts"
import type { Journal, Known } from "./UploadJournal.ts"
import type * as UploadSession from "./UploadSession.ts"

/** A file, and the members of its asset. */
export interface Source {
  readonly file: LocalFile.LocalFile
  readonly asset: Omit<AssetCreate, "fileUuid">
}

/** The result for a file: its new or existing asset, or the reasons of its rejection. */
export type Outcome =
  | { readonly outcome: "uploaded" | "present"; readonly asset: AssetId }
  | { readonly outcome: "refused"; readonly reasons: ReadonlyArray<Reason> }

const isUnchanged = (known: Known | undefined, { modified, size }: LocalFile.LocalFile): known is Known =>
  known !== undefined && known.size === size && known.modified === modified

/** The asset of an unchanged file, according to the journal. */
export const assetOf = (journal: Journal, file: LocalFile.LocalFile): AssetId | undefined => {
  const known = journal.find(file.path)
  return isUnchanged(known, file) ? known.asset : undefined
}

/** Whether the failure affects every other file as well. */
const stops = (failure: Failure) =>
  concernsAll(failure) ||
  ["InvalidAssetCategoriesError", "InvalidLocaleError", "MetaTagValidationError", "RateLimitExceededError"].includes(
    failure._tag
  ) ||
  has(failure, "tooManyOpen")

const has = (failure: Failure, code: string) =>
  failure instanceof InvalidRequestError && failure.issues.some((issue) => issue.code === code)

const decodeInit = Schema.decodeUnknownResult(UploadInit, { errors: "all" })

/** The upload request of a file, validated with the schema of the service. */
const initOf = ({ name, size }: LocalFile.LocalFile): Result.Result<UploadInit, ReadonlyArray<Reason>> => {
  const contentType = mime.lookup(name)
  const init = { fileName: name, fileSize: size, ...(contentType === false ? {} : { contentType }) }
  return Result.mapError(decodeInit(init), ({ issue }) => describe(issue, "body").map(Struct.omit(["in"])))
}

const changed: Outcome = {
  outcome: "refused",
  reasons: [{ code: "changed", message: "The file changed during the upload; run the command again" }]
}

/** What the uploads of all files share. */
export interface Uploader {
  /** Also uploads a file whose content the service has already. */
  readonly force: boolean
  readonly journal: Journal
  readonly assets: Client["Service"]["assets"]
  readonly session: UploadSession.UploadSession
  readonly inTurn: ReturnType<typeof Turns.make>
}

/** A file with its upload request and content; `known` names the session of an earlier run when the content is unchanged. */
interface Task extends Source {
  readonly init: UploadInit
  readonly content: UploadSession.Content
  readonly known: Known
  readonly force: boolean
}

const withoutSession = Struct.omit<Known, readonly ["session"]>(["session"])

const finished = Effect.fnUntraced(function* (
  { journal }: Uploader,
  { file, known }: Task,
  outcome: "uploaded" | "present",
  asset: AssetId
) {
  yield* journal.note(file.path, { ...withoutSession(known), asset })
  return { outcome, asset } satisfies Outcome
})

const createAsset = (uploader: Uploader, task: Task, fileUuid: FileId): Effect.Effect<Outcome, Failure> =>
  persistently(uploader.assets.create({ payload: { ...task.asset, fileUuid } })).pipe(
    Effect.flatMap(({ uuid }) => finished(uploader, task, "uploaded", uuid)),
    // An earlier attempt created the asset and its response was lost: find the asset by its content.
    Effect.catchIf(
      (failure) => has(failure, "notUnique"),
      () => begin(uploader, { ...task, force: false })
    )
  )

/** Uploads a file from the start, or returns the asset that has the same content already. */
const begin = (uploader: Uploader, task: Task): Effect.Effect<Outcome, Failure> =>
  Effect.gen(function* () {
    const { journal, session } = uploader
    const known = withoutSession(task.known)
    const begun = yield* session.begin({ ...task.init, sha256: known.sha256 })
    if (!task.force && begun.duplicateOf !== undefined) {
      yield* session.abort(begun.uuid)
      return yield* finished(uploader, task, "present", AssetId.make(begun.duplicateOf.assetUuid))
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

/** Uploads a file unless the journal has its asset; files of the same content wait for each other. */
export const settle = Effect.fnUntraced(function* (
  uploader: Uploader,
  source: Source,
  progress: Omit<UploadSession.Content, "bytes">
): Effect.fn.Return<Outcome, Failure, FileSystem.FileSystem> {
  const { force, journal, session } = uploader
  const { file } = source
  const { modified, path, size } = file
  const present = assetOf(journal, file)
  if (!force && present !== undefined) return { outcome: "present", asset: present }
  const init = initOf(file)
  if (Result.isFailure(init)) return { outcome: "refused", reasons: init.failure }
  const content = { ...progress, bytes: yield* LocalFile.open(file) }
  const known = journal.find(path)
  const sha256 = isUnchanged(known, file) ? known.sha256 : yield* LocalFile.sha256(file)
  const current: Known = { size, modified, sha256 }
  const hasSameContent = known?.sha256 === sha256
  if (hasSameContent && known.asset !== undefined && !force) {
    yield* journal.note(path, { ...current, asset: known.asset })
    return { outcome: "present", asset: known.asset }
  }
  if (!hasSameContent && known?.session !== undefined) yield* session.abort(known.session)
  const resumed = hasSameContent && known.asset === undefined ? { ...known, ...current } : current
  return yield* uploader.inTurn(sha256)(
    send(uploader, { ...source, init: init.success, content, known: resumed, force })
  )
})

/** Removes a rejected file from the journal, so that the next run attempts it again; fails when all files are affected. */
export const reject = Effect.fnUntraced(function* ({ journal }: Uploader, { file }: Source, failure: Failure) {
  const isSame = yield* LocalFile.isUnmodified(file)
  if (isSame && stops(failure)) return yield* Effect.fail(failure)
  yield* journal.note(file.path, undefined)
  return isSame ? ({ outcome: "refused", reasons: reasonsOf(failure) } satisfies Outcome) : changed
})
