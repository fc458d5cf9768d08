import { Effect } from "effect"
import * as KeysetPages from "../KeysetPages.ts"
import { type CallSite, nextOf, runOrReject } from "./Call.ts"
import type { WaypostError } from "./Errors.ts"
import { pull } from "./Pull.ts"

/** Every record of a list, oldest first, each once: `for await (const location of client.locations.all())`. */
export interface AllRecords<A> extends AsyncIterable<A> {
  /** Reads the whole list into memory. */
  readonly toArray: () => Promise<Array<A>>
}

type List<A> = Omit<KeysetPages.List<A, WaypostError>, "isTooLarge">

/** Whether the service rejected a page because its records are too large. */
const isTooLarge = (error: WaypostError) =>
  "issues" in error &&
  Array.isArray(error.issues) &&
  error.issues.some((issue: { readonly path?: unknown; readonly code?: unknown }) => {
    return issue.path === "limit" && issue.code === "tooMuch"
  })

const pulled = <A>(list: List<A>) => pull(KeysetPages.start, KeysetPages.next({ ...list, isTooLarge }))

/** All records of a list, which is read while they are used. */
export const make = <A>(list: List<A>, site: CallSite, signal: AbortSignal | undefined): AllRecords<A> => ({
  [Symbol.asyncIterator]: () => ({ next: nextOf(pulled(list), site, signal) }),
  toArray: () => {
    const record = pulled(list)
    const found: Array<A> = []
    const rest: Effect.Effect<Array<A>, WaypostError> = Effect.flatMap(record, (result) => {
      if (result.done === true) return Effect.succeed(found)
      found.push(result.value)
      return rest
    })
    return runOrReject(rest, site, signal)
  }
})
