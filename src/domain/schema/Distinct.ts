import { Array as Arr, identity, Schema, SchemaTransformation } from "effect"

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
    .check(Schema.isMaxLength(max, { expected: `at most ${max} ${items}`, code: "tooMany" }))
    .pipe(
      Schema.decode(
        SchemaTransformation.transform<ReadonlyArray<S["Type"]>, ReadonlyArray<S["Type"]>>({
          decode: (list) => Arr.dedupe(list.map(compared)),
          encode: (list) => list
        })
      )
    )
