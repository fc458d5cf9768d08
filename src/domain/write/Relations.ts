import { Array as Arr, Schema, SchemaTransformation } from "effect"
import type { Uuid } from "../schema/Fields.ts"

/** How many members one replacement may name. */
const maxMembers = 10_000

/** The members of a relation, the whole set; a uuid that is named twice counts once. */
export const uuids = <Id extends Schema.Codec<string, string>>(id: Id) =>
  Schema.Array(id)
    .check(Schema.isMaxLength(maxMembers, { expected: `at most ${maxMembers} uuids`, code: "tooMany" }))
    .pipe(
      Schema.decode(
        SchemaTransformation.transform<ReadonlyArray<Id["Type"]>, ReadonlyArray<Id["Type"]>>({
          decode: Arr.dedupe,
          encode: (members) => members
        })
      )
    )

/** The message of an error about records that do not exist. */
export const notFoundMessage = (kind: string, uuids: ReadonlyArray<typeof Uuid.Type>): string =>
  `No ${kind} has the uuid ${uuids.slice(0, 10).join(", ")}${uuids.length > 10 ? `, … (${uuids.length} in all)` : ""}`
