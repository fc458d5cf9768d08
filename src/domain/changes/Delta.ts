import { Schema } from "effect"
import { codecOf } from "../schema/Codec.ts"

/** A record as it is now, or the uuid of one that is deleted; `name` is that of the type of the record. */
export const Delta = <Id extends Schema.Top, S extends Schema.Top>(id: Id, record: S, name: string) => {
  const uuid = codecOf(id)
  return Schema.Union([
    Schema.Struct({ uuid, record: codecOf(record) }).annotate({ identifier: `Current${name}` }),
    Schema.Struct({ uuid, deleted: Schema.Literal(true) }).annotate({ identifier: `Deleted${name}` })
  ])
}
