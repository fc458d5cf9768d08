import { chownSync, copyFileSync, mkdirSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import type * as Subprocess from "../../../src/postgres/Subprocess.ts"

/** Files excluded from a base backup: the WAL, which is archived or streamed, and files of the running server. */
const excluded = /^(?:pg_wal\/.*|postmaster\.(?:pid|opts)|pg_replslot\/.*|pg_stat_tmp\/.*)$/

/** Copies the files of a running server. Recovery does not need a file that is removed during the copy. */
export const copyDirectory = (from: string, to: string) => {
  mkdirSync(to, { mode: 0o700, recursive: true })
  for (const name of readdirSync(from, { recursive: true, encoding: "utf8" }).toSorted()) {
    if (excluded.test(name)) continue
    try {
      if (statSync(join(from, name)).isDirectory()) mkdirSync(join(to, name), { recursive: true, mode: 0o700 })
      else copyFileSync(join(from, name), join(to, name))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
    }
  }
}

/** Makes an account the owner of a folder and of all that is in it. */
export const giveTo = (folder: string, { gid, uid }: Subprocess.Account) => {
  for (const name of ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })])
    chownSync(join(folder, name), uid, gid)
}
