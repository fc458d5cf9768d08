import { Array as Arr, Schema, SchemaTransformation } from "effect"

/** A list of at most `max` different items; what is named twice counts once, the order is kept. */
export const distinct = <S extends Schema.Codec<unknown, unknown>>(item: S, max: number, items: string) =>
  Schema.Array(item)
    .check(Schema.isMaxLength(max, { expected: `at most ${max} ${items}`, code: "tooMany" }))
    .pipe(
      Schema.decode(
        SchemaTransformation.transform<ReadonlyArray<S["Type"]>, ReadonlyArray<S["Type"]>>({
          decode: Arr.dedupe,
          encode: (list) => list
        })
      )
    )
