import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const root = "/sys/fs/cgroup/cpu"
/** In microseconds: short, so that a process waits briefly when its share of the period is used. */
const period = 20_000

/** Gives a process a part of a processor, until it is disposed of. */
export const limit = (pid: number, processors: number): Disposable => {
  const folder = join(root, `waypost-bench-${pid}`)
  if (!existsSync(join(root, "cpu.cfs_quota_us"))) {
    throw new Error(`Shares of processors need the cpu controller of cgroup v1 at ${root}`)
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "cpu.cfs_period_us"), String(period))
  writeFileSync(join(folder, "cpu.cfs_quota_us"), String(Math.round(period * processors)))
  writeFileSync(join(folder, "cgroup.procs"), String(pid))
  return {
    [Symbol.dispose]: () => {
      writeFileSync(join(root, "cgroup.procs"), String(pid))
      rmdirSync(folder)
    }
  }
}
