import { Clock, Effect } from "effect"

/** How many slow files are remembered, and for how long none is rendered for a request, in milliseconds. */
const maxSlow = 10_000
const restMillis = 60_000

/** The files that exceeded the time limit in this process. */
export const make = () => {
  const since = new Map<string, number>()
  return {
    has: (uuid: string) => since.has(uuid),
    /** Whether the file exceeded the time limit within the last minute. */
    isRecent: (uuid: string) =>
      Effect.map(Clock.currentTimeMillis, (now) => now - (since.get(uuid) ?? -Infinity) < restMillis),
    add: (uuid: string) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        since.delete(uuid)
        since.set(uuid, now)
        const [oldest] = since.keys()
        if (since.size > maxSlow && oldest !== undefined) since.delete(oldest)
      })
  }
}
