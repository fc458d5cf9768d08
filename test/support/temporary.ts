import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs"
import { join } from "node:path"

const memory = "/dev/shm"
const prefix = "waypost-tests-"
/** The files of `npm test` had less than 1 GiB whenever that was looked at; tests with many rows may need more for a moment. */
const needed = 6 * 1024 ** 3

/** Whether this machine has files in memory, with room for those of the tests and permission to run programs. */
const isUsable = () => {
  try {
    const mount = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .find((line) => line.split(" ")[1] === memory)
    const { bavail, bsize } = statfsSync(memory)
    return mount !== undefined && !mount.split(" ")[3]!.split(",").includes("noexec") && bavail * bsize >= needed
  } catch {
    return false
  }
}

/**
 * Has this process and its children keep temporary files in memory, unless `TMPDIR` says where. Every database of a test
 * is a thousand files, which a disk records one by one when they are created and when they are deleted.
 */
export const keepInMemory = () => {
  if (process.env["TMPDIR"] !== undefined || !isUsable()) return
  for (const name of readdirSync(memory)) {
    // Left by a run that was killed.
    if (name.startsWith(prefix) && !existsSync(`/proc/${name.slice(prefix.length)}`)) {
      rmSync(join(memory, name), { recursive: true, force: true })
    }
  }
  const folder = join(memory, `${prefix}${process.pid}`)
  mkdirSync(folder)
  // As that of the system is, for the user of PostgreSQL.
  chmodSync(folder, 0o1777)
  process.env["TMPDIR"] = folder
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
}
