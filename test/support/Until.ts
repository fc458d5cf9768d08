import { setTimeout as sleep } from "node:timers/promises"

/** Waits until something is so, and fails when it takes longer than 20 seconds. */
export const until = async <A>(what: string, look: () => Promise<A | undefined | false> | A | undefined | false) => {
  for (const began = performance.now(); performance.now() - began < 20_000; await sleep(10)) {
    const found = await look()
    if (found !== undefined && found !== false) return found
  }
  throw new Error(`It did not happen within 20 seconds that ${what}`)
}
