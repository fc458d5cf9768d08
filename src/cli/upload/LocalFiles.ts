import { Effect, FileSystem, Option, Path, type PlatformError } from "effect"
import * as Failures from "../Failures.ts"
import { type LocalFile, modifiedOf } from "./LocalFile.ts"
import type { Reason } from "../files/Row.ts"

/** A file that cannot be uploaded, with the reasons. */
export interface RejectedFile {
  readonly shown: string
  readonly reasons: ReadonlyArray<Reason>
}

/** The files found, those skipped with the reason, and those that cannot be read. */
export interface Found {
  readonly files: ReadonlyArray<LocalFile>
  readonly skipped: ReadonlyArray<{ readonly shown: string; readonly why: string }>
  readonly unreadable: ReadonlyArray<RejectedFile>
}

/** Files that operating systems create in folders. */
const systemFiles: ReadonlySet<string> = new Set(["Thumbs.db", "desktop.ini"])

const isHidden = (name: string) => name.startsWith(".") || systemFiles.has(name)

/** A name as the service stores it: some file systems write letters and their accents apart. */
const normal = (name: string) => name.normalize("NFC").trim()

/** The default name of the file that lists refused files; never uploaded itself. */
export const refusedFileName = (path: string): string => `${path}.refused.ndjson`

/**
 * The files of folders, by name, and single files, each once. Hidden files inside a folder are skipped, and so are links,
 * which could form cycles or lead to files outside the folder; a path that is given explicitly is not. Fails
 * when a given path does not exist.
 */
export const find = Effect.fnUntraced(function* (paths: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const files = new Map<string, LocalFile>()
  const skipped: Array<Found["skipped"][number]> = []
  const unreadable: Array<RejectedFile> = []

  const add = (shown: string, info: FileSystem.File.Info, folders: ReadonlyArray<string>) => {
    const size = Number(info.size)
    if (info.type !== "File") return skipped.push({ shown, why: "not a file" })
    if (size === 0) return skipped.push({ shown, why: "empty" })
    if (shown.endsWith(refusedFileName(""))) return skipped.push({ shown, why: "a list of refused files" })
    const absolute = path.resolve(shown)
    const modified = modifiedOf(info)
    return files.set(absolute, { path: absolute, shown, name: normal(path.basename(shown)), folders, size, modified })
  }

  const addUnreadable = (shown: string) => (error: PlatformError.PlatformError) =>
    Effect.sync(() => {
      unreadable.push({ shown, reasons: [{ code: "unreadable", message: Failures.describe(error) }] })
    })

  const visit = (
    shown: string,
    type: FileSystem.File.Type,
    folders: ReadonlyArray<string>
  ): Effect.Effect<void, PlatformError.PlatformError> =>
    Effect.gen(function* () {
      if (isHidden(path.basename(shown))) return void skipped.push({ shown, why: "hidden" })
      if (type === "SymbolicLink") {
        const why = Option.match(yield* Effect.option(fs.stat(shown)), {
          onNone: () => "a link that leads to no file",
          onSome: (target) =>
            `a link to a ${target.type === "Directory" ? "folder" : "file"}; to include it, pass its path as an argument`
        })
        return void skipped.push({ shown, why })
      }
      const info = yield* fs.stat(shown)
      if (info.type !== "Directory") return void add(shown, info, folders)
      yield* walk(shown, [...folders, normal(path.basename(shown))])
    })

  const walk = (
    folder: string,
    folders: ReadonlyArray<string> = []
  ): Effect.Effect<void, PlatformError.PlatformError> =>
    Effect.flatMap(fs.readDirectoryEntries(folder), (entries) =>
      Effect.forEach(
        entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
        ({ name, type }) => {
          const shown = path.join(folder, name)
          return Effect.catch(visit(shown, type, folders), addUnreadable(shown))
        },
        { discard: true }
      )
    )

  for (const shown of paths) {
    const info = yield* fs.stat(shown)
    if (info.type === "Directory") yield* walk(shown)
    else add(shown, info, [])
  }
  return { files: [...files.values()], skipped, unreadable } satisfies Found
})
