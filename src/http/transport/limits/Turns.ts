import { Effect } from "effect"
import type { Share } from "../../../domain/keys/Share.ts"

/** Shares with no more requests in flight than this begin each at once. */
const maxAtOnce = 16

/**
 * Lets the requests of a share with many requests in flight begin one by one, each in a turn of the event loop of its own,
 * while other keys work. Hundreds of requests that arrive together would otherwise be decoded together, and every other
 * request would wait until they are.
 */
export const make = () => {
  const waiting = new Map<string, Array<() => void>>()

  const next = () => {
    for (const [id, queue] of waiting) {
      const begin = queue.shift()
      if (queue.length === 0) waiting.delete(id)
      begin?.()
    }
    if (waiting.size > 0) setImmediate(next)
  }

  return (share: Share, inFlight: number): Effect.Effect<void> => {
    if (inFlight <= maxAtOnce || share.isAlone()) return Effect.void
    return Effect.callback<void>((resume) => {
      const queue = waiting.get(share.id)
      const begin = () => resume(Effect.void)
      if (queue !== undefined) queue.push(begin)
      else {
        if (waiting.size === 0) setImmediate(next)
        waiting.set(share.id, [begin])
      }
    })
  }
}
