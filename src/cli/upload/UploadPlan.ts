import { Effect, type FileSystem, Result } from "effect"
import type { Client } from "../../client/Client.ts"
import type { Failure } from "../Failures.ts"
import type { Reason } from "../files/Row.ts"
import * as FileUpload from "./FileUpload.ts"
import type { LocalFile } from "./LocalFile.ts"
import * as SameContent from "./SameContent.ts"
import type { Journal } from "./UploadJournal.ts"

/** What an upload would do with a file. `sameAs` is another file with the same content. */
export type Planned =
  | { readonly file: LocalFile; readonly outcome: "upload" }
  | { readonly file: LocalFile; readonly outcome: "present"; readonly sameAs?: string }
  | { readonly file: LocalFile; readonly outcome: "refused"; readonly reasons: ReadonlyArray<Reason> }

interface Options extends FileUpload.Duplicates {
  readonly journal: Journal
  readonly assets: Client["Service"]["assets"]
}

/** What an upload would do with each file, in order. Reads the files and writes nothing. */
export const plan = Effect.fnUntraced(function* (options: Options, files: ReadonlyArray<LocalFile>) {
  const { assets, force, journal, keepDuplicates } = options
  /** The names under which the files before this one would be uploaded, by their content. */
  const names = new Map<string, Array<string>>()
  const planned = (file: LocalFile): Effect.Effect<Planned, Failure, FileSystem.FileSystem> =>
    Effect.gen(function* () {
      const before = FileUpload.presentBefore(journal, file, options)
      if (before !== undefined) {
        return { file, outcome: "present", ...(before.sameAs === undefined ? {} : { sameAs: before.sameAs }) }
      }
      const init = FileUpload.initOf(file)
      if (Result.isFailure(init)) return { file, outcome: "refused", reasons: init.failure }
      const sha256 = yield* FileUpload.sha256Of(journal, file)
      const same = force ? undefined : yield* SameContent.find(assets, sha256, file.name)
      const earlier = names.get(sha256) ?? []
      const known = force ? [] : [...(same === undefined ? [] : [same.fileName]), ...earlier]
      if (known.includes(file.name)) return { file, outcome: "present" }
      if (known.length > 0 && !keepDuplicates) return { file, outcome: "present", sameAs: known[0]! }
      names.set(sha256, [...earlier, file.name])
      return { file, outcome: "upload" }
    })
  return yield* Effect.forEach(files, planned)
})
