import { Effect } from "effect"
import type { RenderFailedError } from "../media/Renderer.ts"
import { monotonicMillis } from "./MonotonicTime.ts"

type Fault = NonNullable<RenderFailedError["fault"]>

/** How many files are remembered, and for how long none is rendered for a request, in milliseconds. */
const maxFiles = 10_000
const restMillis = 60_000

/** How often a file exceeds the time limit, or ends the process that works on it, before it counts as failed. */
const maxFaults = { tookTooLong: 2, endedProcess: 5 } as const

/** The files whose rendering failed in this process. */
export const make = () => {
  const failed = new Map<string, { readonly at: number } & Readonly<Record<Fault, number>>>()
  const countOf = (uuid: string, fault: Fault) => failed.get(uuid)?.[fault] ?? 0
  return {
    /** Whether the file ever exceeded the time limit. */
    isSlow: (uuid: string) => countOf(uuid, "tookTooLong") > 0,
    /** Whether its rendering failed within the last minute. */
    isRecent: (uuid: string) =>
      Effect.map(monotonicMillis, (now) => now - (failed.get(uuid)?.at ?? -Infinity) < restMillis),
    /** Whether the file counts as failed after a failure with this fault. One of the machine has none, and does not count. */
    isGivenUp: (uuid: string, fault?: Fault) => fault !== undefined && countOf(uuid, fault) >= maxFaults[fault],
    add: (uuid: string, fault?: Fault) =>
      Effect.map(monotonicMillis, (at) => {
        const count = (counted: Fault) => countOf(uuid, counted) + (fault === counted ? 1 : 0)
        const entry = { at, tookTooLong: count("tookTooLong"), endedProcess: count("endedProcess") }
        failed.delete(uuid)
        failed.set(uuid, entry)
        const [oldest] = failed.keys()
        if (failed.size > maxFiles && oldest !== undefined) failed.delete(oldest)
      })
  }
}
