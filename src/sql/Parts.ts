import { Effect } from "effect"

/** How many rows one statement removes, well within the time limit of statements. */
const part = 5000

/** Removes rows in parts, each with a statement. `remove` removes at most `limit` rows, and returns one row for each. */
export const removeInParts = <E, R>(remove: (limit: number) => Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  Effect.asVoid(Effect.repeat(remove(part), { until: (removed) => removed.length < part }))
