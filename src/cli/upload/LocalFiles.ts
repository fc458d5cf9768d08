import { Effect, FileSystem, Path, type PlatformError } from "effect"
import * as Failures from "../Failures.ts"
import { type LocalFile, modifiedOf } from "./LocalFile.ts"
import type { Reason } from "../transfer/Row.ts"

/** A file that cannot be uploaded, and why. */
export interface Refusal {
  readonly shown: string
  readonly reasons: ReadonlyArray<Reason>
}

/** What was found: files, what is passed over and why, and what cannot be read. */
export interface Found {
  readonly files: ReadonlyArray<LocalFile>
  readonly skipped: ReadonlyArray<{ readonly shown: string; readonly why: string }>
  readonly unreadable: ReadonlyArray<Refusal>
}

/** Files that systems leave in folders beside what people put there. */
const ofTheSystem: ReadonlySet<string> = new Set(["Thumbs.db", "desktop.ini"])

const isHidden = (name: string) => name.startsWith(".") || ofTheSystem.has(name)

/** Where refusals are written unless somebody says otherwise; never brand material. */
export const refusalsName = (path: string): string => `${path}.refused.ndjson`

/**
 * The files of folders and single files, each once, those of a folder by name. Inside a folder hidden files are passed
 * over, and links to folders, which could lead in circles; what is named itself is taken. Fails when something that is
 * named does not exist.
 */
export const find = Effect.fnUntraced(function* (paths: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const files = new Map<string, LocalFile>()
  const skipped: Array<Found["skipped"][number]> = []
  const unreadable: Array<Refusal> = []

  const add = (shown: string, info: FileSystem.File.Info) => {
    const size = Number(info.size)
    if (info.type !== "File") return skipped.push({ shown, why: "not a file" })
    if (size === 0) return skipped.push({ shown, why: "empty" })
    if (shown.endsWith(refusalsName(""))) return skipped.push({ shown, why: "the refusals of a command" })
    const absolute = path.resolve(shown)
    return files.set(absolute, { path: absolute, shown, name: path.basename(shown), size, modified: modifiedOf(info) })
  }

  const tell = (shown: string) => (error: PlatformError.PlatformError) =>
    Effect.sync(() => {
      unreadable.push({ shown, reasons: [{ code: "unreadable", message: Failures.describe(error) }] })
    })

  const visit = (shown: string, type: FileSystem.File.Type): Effect.Effect<void, PlatformError.PlatformError> =>
    Effect.gen(function* () {
      if (isHidden(path.basename(shown))) return void skipped.push({ shown, why: "hidden" })
      const info = yield* fs.stat(shown)
      if (info.type !== "Directory") return void add(shown, info)
      if (type === "SymbolicLink") return void skipped.push({ shown, why: "a link to a folder" })
      yield* walk(shown)
    })

  const walk = (folder: string): Effect.Effect<void, PlatformError.PlatformError> =>
    Effect.flatMap(fs.readDirectoryEntries(folder), (entries) =>
      Effect.forEach(
        entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
        ({ name, type }) => {
          const shown = path.join(folder, name)
          return Effect.catch(visit(shown, type), tell(shown))
        },
        { discard: true }
      )
    )

  for (const shown of paths) {
    const info = yield* fs.stat(shown)
    if (info.type === "Directory") yield* walk(shown)
    else add(shown, info)
  }
  return { files: [...files.values()], skipped, unreadable } satisfies Found
})
