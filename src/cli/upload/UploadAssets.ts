import { Effect, type FileSystem, Option, Result, Schema, Stream, Struct } from "effect"
import mime from "mime-types"
import { Client } from "../../client/Client.ts"
import type { AssetCreate, AssetId } from "../../domain/assets/Asset.ts"
import type { FileId } from "../../domain/assets/File.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { UploadInit } from "../../domain/assets/Upload.ts"
import { describe } from "../../domain/write/Issues.ts"
import { concernsAll, type Failure, persistently, reasonsOf } from "../Failures.ts"
import * as LocalFile from "./LocalFile.ts"
import type { Reason } from "../transfer/Row.ts"
import * as Turns from "./Turns.ts"
import type { Journal, Known } from "./UploadJournal.ts"
import * as UploadSession from "./UploadSession.ts"

/** A file, and the asset it is to become. */
export interface Source {
  readonly file: LocalFile.LocalFile
  readonly asset: Omit<AssetCreate, "fileUuid">
}

/** What became of a file: an asset, made or found, or nothing, and why. */
export type Outcome =
  | { readonly outcome: "uploaded" | "present"; readonly asset: AssetId }
  | { readonly outcome: "refused"; readonly reasons: ReadonlyArray<Reason> }

/** What became of the files so far, and how many bytes were sent and are left to send. */
export interface Summary {
  uploaded: number
  present: number
  refused: number
  sent: number
  left: number
}

/** Nothing has become of any file yet. The upload counts in it, so that others can watch. */
export const nothing = (): Summary => ({ uploaded: 0, present: 0, refused: 0, sent: 0, left: 0 })

export interface Options {
  /** How many files are sent at once, and how many parts of each. */
  readonly concurrency: number
  /** Uploads also what is there already. */
  readonly force: boolean
  readonly journal: Journal
  readonly summary: Summary
}

const isUnchanged = (known: Known | undefined, { modified, size }: LocalFile.LocalFile): known is Known =>
  known !== undefined && known.size === size && known.modified === modified

/** The asset of a file that has not changed since it was uploaded, as far as the journal knows. */
export const assetOf = (journal: Journal, file: LocalFile.LocalFile): AssetId | undefined => {
  const known = journal.find(file.path)
  return isUnchanged(known, file) ? known.asset : undefined
}

/** What every other file would meet as well; the rest is the file's own. */
const stops = (failure: Failure) =>
  concernsAll(failure) ||
  ["InvalidAssetCategoriesError", "InvalidLocaleError", "MetaTagValidationError"].includes(failure._tag) ||
  has(failure, "tooManyOpen")

const has = (failure: Failure, code: string) =>
  failure instanceof InvalidRequestError && failure.issues.some((issue) => issue.code === code)

const decodeInit = Schema.decodeUnknownResult(UploadInit, { errors: "all" })

/** What begins the upload of a file, checked with the schema that the service will check it with. */
const initOf = ({ name, size }: LocalFile.LocalFile): Result.Result<UploadInit, ReadonlyArray<Reason>> => {
  const contentType = mime.lookup(name)
  const init = { fileName: name, fileSize: size, ...(contentType === false ? {} : { contentType }) }
  return Result.mapError(decodeInit(init), ({ issue }) => describe(issue, "body").map(Struct.omit(["in"])))
}

const changed: Outcome = {
  outcome: "refused",
  reasons: [{ code: "changed", message: "It changed while it was being uploaded; run the command again" }]
}

/**
 * Makes an asset of every file, `concurrency` at a time. What the service has already is found by its SHA-256 and passed
 * over, also when two of the files are the same; what an earlier run began goes on. The first failure that concerns all
 * files ends it; running it again goes on there.
 */
export const uploadAll = Effect.fnUntraced(function* (options: Options) {
  const { concurrency, journal, summary } = options
  const { assets } = yield* Client
  const session = yield* UploadSession.make
  const takeTurn = Turns.make()

  /** Brings a file to the service; `known` is what an earlier run began, if it began with the same content. */
  const bring = (
    source: Source,
    init: UploadInit,
    content: UploadSession.Content,
    known: Known,
    force: boolean
  ): Effect.Effect<Outcome, Failure> =>
    Effect.gen(function* () {
      const { asset, file } = source
      const finished = Effect.fnUntraced(function* (outcome: "uploaded" | "present", uuid: AssetId) {
        yield* journal.note(file.path, { ...Struct.omit(known, ["session"]), asset: uuid })
        return { outcome, asset: uuid } satisfies Outcome
      })
      const afresh = (force: boolean) => bring(source, init, content, Struct.omit(known, ["session"]), force)
      const create = (fileUuid: FileId) =>
        persistently(assets.create({ payload: { ...asset, fileUuid } })).pipe(
          Effect.flatMap(({ uuid }) => finished("uploaded", uuid)),
          // The asset was made, and the answer that told of it never arrived: it is found by its content.
          Effect.catchIf(
            (failure) => has(failure, "notUnique"),
            () => afresh(false)
          )
        )

      if (known.session !== undefined) {
        const fileUuid = yield* session.resume(known.session, content)
        if (Option.isNone(fileUuid)) return yield* afresh(force)
        return yield* Effect.catchIf(
          create(fileUuid.value),
          (failure) => failure._tag === "FileNotFoundError",
          () => afresh(force)
        )
      }
      const begun = yield* session.begin({ ...init, sha256: known.sha256 })
      if (!force && begun.duplicateOf !== undefined) {
        yield* session.abort(begun.uuid)
        return yield* finished("present", begun.duplicateOf.assetUuid as AssetId)
      }
      yield* journal.note(file.path, { ...known, session: begun.uuid })
      return yield* create(yield* session.finish(begun, begun.parts, [], content))
    })

  const settle = Effect.fnUntraced(function* (source: Source, content: Omit<UploadSession.Content, "bytes">) {
    const { file } = source
    const { modified, path, size } = file
    const there = assetOf(journal, file)
    if (!options.force && there !== undefined) return { outcome: "present", asset: there } satisfies Outcome
    const init = initOf(file)
    if (Result.isFailure(init)) return { outcome: "refused", reasons: init.failure } satisfies Outcome
    const bytes = yield* LocalFile.open(file)
    const known = journal.find(path)
    const sha256 = isUnchanged(known, file) ? known.sha256 : yield* LocalFile.sha256(file)
    const now: Known = { size, modified, sha256 }
    if (known?.sha256 !== sha256) {
      if (known?.session !== undefined) yield* session.abort(known.session)
    } else if (known.asset === undefined) {
      return yield* takeTurn(sha256)(
        bring(source, init.success, { ...content, bytes }, { ...known, ...now }, options.force)
      )
    } else if (!options.force) {
      yield* journal.note(path, { ...now, asset: known.asset })
      return { outcome: "present", asset: known.asset } satisfies Outcome
    }
    return yield* takeTurn(sha256)(bring(source, init.success, { ...content, bytes }, now, options.force))
  })

  /** Nothing is remembered of a file that was refused: the next run looks at it as if it were new. */
  const refuse = Effect.fnUntraced(function* (source: Source, failure: Failure) {
    const same = yield* LocalFile.isAsItWas(source.file)
    if (same && stops(failure)) return yield* Effect.fail(failure)
    yield* journal.note(source.file.path, undefined)
    return same ? ({ outcome: "refused", reasons: reasonsOf(failure) } satisfies Outcome) : changed
  })

  const upload = Effect.fnUntraced(function* (
    source: Source
  ): Effect.fn.Return<[Source, Outcome], Failure, FileSystem.FileSystem> {
    let left = source.file.size
    const pass = (bytes: number) => {
      left -= bytes
      summary.left -= bytes
    }
    const content = {
      concurrency,
      onFound: pass,
      onSent: (bytes: number) => {
        pass(bytes)
        summary.sent += bytes
      }
    }
    const outcome = yield* settle(source, content).pipe(Effect.catch((failure) => refuse(source, failure)))
    pass(left)
    summary[outcome.outcome]++
    return [source, outcome]
  })

  return (sources: ReadonlyArray<Source>): Stream.Stream<readonly [Source, Outcome], Failure, FileSystem.FileSystem> =>
    Stream.suspend(() => {
      summary.left += sources.reduce((sum, { file }) => sum + file.size, 0)
      return Stream.mapEffect(Stream.fromIterable(sources), upload, { concurrency, unordered: true })
    })
})
