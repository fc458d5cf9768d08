import type { ChildProcess } from "node:child_process"

/** Milliseconds after which a process that has not stopped is killed: a busy machine needs long to stop a database. */
const stopTimeout = 120_000

/** A child process that does not outlive this one. */
export interface Child {
  /** The exit code; rejects when the program does not exist. */
  readonly exited: Promise<number | null>
  readonly signal: (name: NodeJS.Signals) => void
  /** Signals it to stop, kills it after a timeout, and returns the exit code. */
  readonly stop: (name?: NodeJS.Signals) => Promise<number | null>
}

/** Kills a process, or the group that it leads, when this process ends. */
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
    const late = setTimeout(() => signal("SIGKILL"), stopTimeout)
    return exited.finally(() => clearTimeout(late))
  }
  return { exited, signal, stop }
}

const cleanups = new Set<() => void>()
const endAll = () => {
  for (const end of cleanups) end()
}

/** Registers `end` to run when this process ends; returns a function that unregisters it. */
export const endWithUs = (end: () => void): (() => void) => {
  cleanups.add(end)
  return () => void cleanups.delete(end)
}

process.once("exit", endAll)
// Vitest stops its workers with SIGTERM and a terminal its programs with SIGINT; Node emits no "exit" event for these.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  process.once(signal, () => {
    endAll()
    process.kill(process.pid, signal)
  })
}
