import { setTimeout as sleep } from "node:timers/promises"

/** Waits until something is so, and fails when it takes longer. */
export const until = async <A>(
  what: string,
  look: () => Promise<A | undefined | false> | A | undefined | false,
  seconds = 20
) => {
  for (const began = performance.now(); performance.now() - began < seconds * 1000; await sleep(10)) {
    const found = await look()
    if (found !== undefined && found !== false) return found
  }
  throw new Error(`It did not happen within ${seconds} seconds that ${what}`)
}
