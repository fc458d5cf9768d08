import { Console, Effect } from "effect"
import type { Json } from "../../domain/schema/Json.ts"
import { isJson, tableWidth } from "../records/Output.ts"
import * as Service from "../records/Service.ts"
import * as Table from "../records/Table.ts"

const fields = ["at", "type", "record", "by", "changes"]

/** What people read of an event. */
const summaryOf = (event: Json): Json => {
  const [record, actor] = [Service.recordOf(event["record"]), Service.recordOf(event["actor"])]
  const changes = Array.isArray(event["changes"]) ? event["changes"].map(Service.recordOf) : []
  return {
    at: event["occurredAt"],
    type: event["type"],
    record: record["label"] ?? record["uuid"],
    by: actor["name"] ?? actor["type"],
    changes: changes.map(({ path }) => path).join(", ")
  }
}

/** Prints events as a table on a terminal, or as JSON. */
export const events = Effect.fnUntraced(function* (found: ReadonlyArray<Json>, json: boolean) {
  if (yield* isJson(json)) return yield* Console.log(JSON.stringify(found, undefined, 2))
  if (found.length === 0) return yield* Console.log("No events")
  yield* Console.log(Table.table(found.map(summaryOf), { fields, given: false, width: yield* tableWidth }))
})

/** An event as one line of text. */
export const lineOf = (event: Json): string => fields.map((field) => Table.cellOf(summaryOf(event)[field])).join("  ")
