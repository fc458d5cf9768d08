import { setTimeout as sleep } from "node:timers/promises"

/** Polls `condition` until it is true or returns a value; fails after `seconds`. */
export const until = async <A>(
  what: string,
  condition: () => Promise<A | undefined | false> | A | undefined | false,
  seconds = 20
) => {
  for (const began = performance.now(); performance.now() - began < seconds * 1000; await sleep(10)) {
    const found = await condition()
    if (found !== undefined && found !== false) return found
  }
  throw new Error(`Timed out after ${seconds} seconds waiting until ${what}`)
}
