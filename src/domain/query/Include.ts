import { Schema, SchemaTransformation } from "effect"

/** How many related records an answer includes, of each kind. */
export const maxIncluded = 100

/** The members that an answer has on request. */
export const Include = <const Names extends ReadonlyArray<string>>(names: Names) =>
  Schema.String.annotate({
    description: `What to answer as well: a comma-separated list of ${names.join(", ")}.`,
    examples: [names.slice(0, 2).join(",")]
  }).pipe(
    Schema.decodeTo(
      Schema.Array(Schema.String),
      SchemaTransformation.transform<ReadonlyArray<string>, string>({
        decode: (list) => list.split(",").map((name) => name.trim()),
        encode: (list) => list.join(",")
      })
    ),
    Schema.decodeTo(Schema.Array(Schema.Literals(names)), SchemaTransformation.passthroughSupertype())
  )
