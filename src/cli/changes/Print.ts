import { Console, Effect, Stdio, Stream } from "effect"
import { maxLimit } from "../../domain/query/PageLimit.ts"
import { type Json, objectOf, objectsIn } from "../../domain/schema/Json.ts"
import { isJson, tableWidth } from "../records/Output.ts"
import * as Table from "../records/Table.ts"

const fields = ["at", "type", "record", "by", "changes"]

/** What people read of an event. */
const summaryOf = (event: Json): Json => {
  const [record, actor] = [objectOf(event["record"]), objectOf(event["actor"])]
  const changes = objectsIn(event["changes"])
  return {
    at: event["occurredAt"],
    type: event["type"],
    record: record["label"] ?? record["uuid"],
    by: actor["name"] ?? actor["type"],
    changes: changes.map(({ path }) => path).join(", ")
  }
}

/** The text of a JSON array, an event at a time; it has no end if the events fail. */
const arrayOf = <E, R>(found: Stream.Stream<Json, E, R>) =>
  Stream.suspend(() => {
    let before = "["
    const texts = Stream.map(found, (event) => {
      const text = before + JSON.stringify([event], undefined, 2).slice("[".length, -"\n]".length)
      before = ","
      return text
    })
    return Stream.concat(
      texts,
      Stream.sync(() => (before === "[" ? "[]\n" : "\n]\n"))
    )
  })

/**
 * Prints events as they are read, because a log can be larger than the memory: as tables on a terminal, each with a page, or as
 * JSON.
 */
export const events = Effect.fnUntraced(function* <E, R>(found: Stream.Stream<Json, E, R>, json: boolean) {
  if (yield* isJson(json)) {
    const stdio = yield* Stdio.Stdio
    return yield* Stream.run(arrayOf(found), stdio.stdout())
  }
  const width = yield* tableWidth
  const tables = yield* found.pipe(
    Stream.map(summaryOf),
    Stream.grouped(maxLimit),
    Stream.mapEffect((page) => Console.log(Table.table(page, { fields, given: false, width }))),
    Stream.runCount
  )
  if (tables === 0) yield* Console.log("No events")
})

/** An event as one line of text. */
export const lineOf = (event: Json): string => fields.map((field) => Table.cellOf(summaryOf(event)[field])).join("  ")
