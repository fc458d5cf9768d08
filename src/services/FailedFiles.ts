import { Clock, Effect } from "effect"

/** How many files are remembered, and for how long none is rendered for a request, in milliseconds. */
const maxFiles = 10_000
const restMillis = 60_000

/** The files whose rendering failed in this process. */
export const make = () => {
  const failed = new Map<string, { readonly at: number; readonly isSlow: boolean }>()
  const isSlow = (uuid: string) => failed.get(uuid)?.isSlow === true
  return {
    /** Whether the file ever exceeded the time limit. */
    isSlow,
    /** Whether its rendering failed within the last minute. */
    isRecent: (uuid: string) =>
      Effect.map(Clock.currentTimeMillis, (now) => now - (failed.get(uuid)?.at ?? -Infinity) < restMillis),
    add: (uuid: string, isTooLong: boolean) =>
      Effect.map(Clock.currentTimeMillis, (at) => {
        const entry = { at, isSlow: isTooLong || isSlow(uuid) }
        failed.delete(uuid)
        failed.set(uuid, entry)
        const [oldest] = failed.keys()
        if (failed.size > maxFiles && oldest !== undefined) failed.delete(oldest)
      })
  }
}
