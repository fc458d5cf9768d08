import { Array as Arr, Schema, SchemaTransformation } from "effect"
import { maxLimit } from "../../domain/query/PageLimit.ts"
import { atMost } from "../../domain/schema/Checks.ts"
import { commaList } from "../../domain/schema/CommaList.ts"
import { Timestamp, Uuid } from "../../domain/schema/Fields.ts"
import { selectedBy, TypePattern } from "../../domain/changes/EventType.ts"
import { direction, integer } from "../ListQuery.ts"

/** The position at which to begin. */
export const after = Schema.optionalKey(
  Schema.String.annotate({
    description: "The `cursor` of an earlier answer, to go on behind it. Absent or empty, it begins at the start."
  })
)

/** A page of at most `maxLimit` entries. */
export const limit = (fallback: number) => Schema.optionalKey(integer(1, maxLimit, fallback))

export const order = (fallback: "asc" | "desc") =>
  Schema.optionalKey(
    direction(fallback).pipe(Schema.annotateEncoded({ description: "The oldest (`asc`) or newest (`desc`) first." }))
  )

/** A comma list of patterns of types. */
const Types = Schema.String.annotate({
  description: "A comma-separated list of types: `location.updated`, `location.*`, `*.deleted` or `*`.",
  examples: ["location.*,user.deleted"]
}).pipe(
  Schema.decodeTo(Schema.Array(TypePattern).check(atMost(100, "types")), commaList),
  Schema.decodeTo(
    Schema.Array(Schema.String),
    SchemaTransformation.transform<ReadonlyArray<string>, ReadonlyArray<string>>({
      decode: (patterns) => Arr.dedupe(patterns.flatMap(selectedBy)),
      encode: (types) => types
    })
  )
)

/** Which events. */
export const EventSelection = {
  types: Schema.optionalKey(Types),
  record: Schema.optionalKey(
    Uuid.pipe(
      Schema.annotateEncoded({ description: "The record, from either side of the relations that the key sees." })
    )
  ),
  actor: Schema.optionalKey(Uuid.pipe(Schema.annotateEncoded({ description: "The API key that made the changes." }))),
  since: Schema.optionalKey(Timestamp.pipe(Schema.annotateEncoded({ description: "The earliest `occurredAt`." }))),
  until: Schema.optionalKey(
    Timestamp.pipe(Schema.annotateEncoded({ description: "The `occurredAt` before which they are." }))
  )
}

/** The query of the feed of events. */
export const EventQuery = {
  after,
  limit: limit(100),
  order: order("asc"),
  wait: Schema.optionalKey(
    integer(0, 25, 0).annotate({ description: "Seconds to wait for an event when there is none yet." })
  ),
  ...EventSelection
}
