import { Array as Arr, identity, Schema } from "effect"
import { atMost } from "./Checks.ts"
import { normalise } from "./Normalise.ts"

/**
 * A list of at most `max` different items, compared by what `compared` keeps of them; duplicates are removed and the
 * order is kept.
 */
export const distinct = <S extends Schema.Codec<unknown, unknown>>(
  item: S,
  max: number,
  items: string,
  compared: (item: S["Type"]) => S["Type"] = identity
) =>
  Schema.Array(item)
    .check(atMost(max, items))
    .pipe(Schema.decode(normalise<ReadonlyArray<S["Type"]>>((list) => Arr.dedupe(list.map(compared)))))
