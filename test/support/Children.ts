import type { ChildProcess } from "node:child_process"

/** How long a process that was told to stop may take, in milliseconds. */
const mostStop = 30_000

/** A process that does not outlive this one. */
export interface Child {
  /** Its exit code, once it has ended; fails when there is no such program. */
  readonly exited: Promise<number | null>
  readonly signal: (name: NodeJS.Signals) => void
  /** Tells it to stop, and kills it when that does not end it in time; its exit code. */
  readonly stop: (name?: NodeJS.Signals) => Promise<number | null>
}

/** Takes charge of a process; of one that leads a group, of the whole group. */
export const own = (child: ChildProcess, isGroup = false): Child => {
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once("exit", resolve)
    child.once("error", reject)
  })
  const signal = (name: NodeJS.Signals) => {
    if (!isGroup) child.kill(name)
    else if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, name)
  }
  const forget = endWithUs(() => signal("SIGKILL"))
  void exited.then(forget, forget)
  const stop = async (name: NodeJS.Signals = "SIGTERM") => {
    signal(name)
    const late = setTimeout(() => signal("SIGKILL"), mostStop)
    return exited.finally(() => clearTimeout(late))
  }
  return { exited, signal, stop }
}

const left = new Set<() => void>()
const endAll = () => {
  for (const end of left) end()
}

/** Has `end` run when this process ends before it is taken back, which what is given does. */
export const endWithUs = (end: () => void): (() => void) => {
  left.add(end)
  return () => void left.delete(end)
}

process.once("exit", endAll)
// Vitest ends its workers with SIGTERM and a terminal its programs with SIGINT; neither is an exit of which Node tells.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  process.once(signal, () => {
    endAll()
    process.kill(process.pid, signal)
  })
}
