import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const root = "/sys/fs/cgroup/cpu"
/** In microseconds: short, so that a process waits briefly when its share of the period is used. */
const period = 20_000

/** The processes that a process has started and that run. */
const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .split(" ")
    .filter((child) => child !== "")

/** Gives a process and those that it starts, together, a part of a processor, until it is disposed of. */
export const limit = (pid: number, processors: number): Disposable => {
  const folder = join(root, `waypost-bench-${pid}`)
  if (!existsSync(join(root, "cpu.cfs_quota_us"))) {
    throw new Error(`Shares of processors need the cpu controller of cgroup v1 at ${root}`)
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "cpu.cfs_period_us"), String(period))
  writeFileSync(join(folder, "cpu.cfs_quota_us"), String(Math.round(period * processors)))
  for (const member of [String(pid), ...childrenOf(pid)]) writeFileSync(join(folder, "cgroup.procs"), member)
  return {
    [Symbol.dispose]: () => {
      const members = readFileSync(join(folder, "cgroup.procs"), "utf8").split("\n")
      for (const member of members) if (member !== "") writeFileSync(join(root, "cgroup.procs"), member)
      rmdirSync(folder)
    }
  }
}
