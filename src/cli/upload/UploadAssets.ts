import { Effect, type FileSystem, Stream } from "effect"
import { Client } from "../../client/Client.ts"
import type { Failure } from "../Failures.ts"
import * as FileUpload from "./FileUpload.ts"
import * as InOrder from "../InOrder.ts"
import * as UploadSession from "./UploadSession.ts"

/** The number of files by outcome, and of bytes sent and left to send. */
export interface Summary {
  uploaded: number
  present: number
  refused: number
  sent: number
  left: number
}

/** A summary of no files, which the upload updates while it runs. */
export const emptySummary = (): Summary => ({ uploaded: 0, present: 0, refused: 0, sent: 0, left: 0 })

export interface Options extends Pick<FileUpload.Uploader, "force" | "keepDuplicates" | "journal"> {
  /** Files uploaded concurrently, and parts of each. */
  readonly concurrency: number
  readonly summary: Summary
}

const upload = (uploader: FileUpload.Uploader, { concurrency, summary }: Options) =>
  Effect.fnUntraced(function* (
    source: FileUpload.Source
  ): Effect.fn.Return<readonly [FileUpload.Source, FileUpload.Outcome], Failure, FileSystem.FileSystem> {
    let left = source.file.size
    const pass = (bytes: number) => {
      left -= bytes
      summary.left -= bytes
    }
    const onSent = (bytes: number) => {
      pass(bytes)
      summary.sent += bytes
    }
    const outcome = yield* FileUpload.settle(uploader, source, { concurrency, onFound: pass, onSent }).pipe(
      Effect.catch((failure) => FileUpload.reject(uploader, source, failure))
    )
    pass(left)
    summary[outcome.outcome]++
    return [source, outcome]
  })

/**
 * Makes an asset of every file, `concurrency` at a time. Files whose content the service has are found by their SHA-256
 * and skipped, and so are duplicates among the files; uploads of an earlier run are resumed. The first failure that affects
 * all files ends the stream; running it again continues there.
 */
export const uploadAll = Effect.fnUntraced(function* (options: Options) {
  const { assets } = yield* Client
  const session = yield* UploadSession.make
  const { force, journal, keepDuplicates } = options
  const uploader: FileUpload.Uploader = { force, keepDuplicates, journal, assets, session, inTurn: InOrder.make() }
  return (
    sources: ReadonlyArray<FileUpload.Source>
  ): Stream.Stream<readonly [FileUpload.Source, FileUpload.Outcome], Failure, FileSystem.FileSystem> =>
    Stream.suspend(() => {
      options.summary.left += sources.reduce((sum, { file }) => sum + file.size, 0)
      return Stream.mapEffect(Stream.fromIterable(sources), upload(uploader, options), {
        concurrency: options.concurrency,
        unordered: true
      })
    })
})
