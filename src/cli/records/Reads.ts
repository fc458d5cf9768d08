import { Effect, Option, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import type { Operation } from "../../api/Operations.ts"
import { PlanResource } from "../../domain/plans/Plan.ts"
import { objectOf } from "../../domain/schema/Json.ts"
import * as Connection from "../Connection.ts"
import { described, listOf, pathOf, queryFlags, type Query, record, sent, uuidOf, verbCommand } from "./Contract.ts"
import * as Output from "./Output.ts"
import * as Service from "./Service.ts"

/** The query for an answer that has only the fields to print: a path of the service has no place in a list. */
const selected = ({ query }: Operation, { fields }: Pick<Output.Input, "fields">) =>
  query.some(({ name }) => name === "fields") && Option.isSome(fields)
    ? [["fields", fields.value.replaceAll(/\.\d+(?=[.,]|$)/g, "")] as const]
    : []

const isExported = Schema.is(PlanResource)

/** Prints a page of a list, with how many there are of all. */
const printPage = Effect.fnUntraced(function* (
  { key, query, url, ...output }: Connection.Input & Output.Input & { readonly query: Query },
  operation: Operation,
  asked: ReadonlyArray<readonly [string, string]> = []
) {
  const answer = yield* Service.call({ key, url })({
    method: "GET",
    path: operation.path,
    query: [...asked, ...sent(query), ...selected(operation, output)]
  })
  const records = Service.recordsOf(answer)
  yield* Output.print(output, operation, records, false)
  const all = isExported(operation.resource) ? ", waypost export writes all" : ""
  yield* Output.printRest(records.length, Service.totalOf(answer), all)
})

const listing = (operation: Operation) =>
  Command.make(
    operation.resource,
    { query: queryFlags(operation), ...Output.flags, ...Connection.flags },
    Effect.fnUntraced(function* (input) {
      yield* printPage(input, operation)
    })
  )

const searching = (operation: Operation) =>
  Command.make(
    operation.resource,
    {
      words: Argument.String("words").pipe(
        Argument.withDescription("The words to find"),
        Argument.variadic({ min: 1 })
      ),
      query: queryFlags({ ...operation, query: operation.query.filter(({ name }) => name !== "search") }),
      ...Output.flags,
      ...Connection.flags
    },
    Effect.fnUntraced(function* ({ words, ...input }) {
      yield* printPage(input, operation, [["search", words.join(" ")]])
    })
  )

const getting = (operation: Operation) =>
  Command.make(
    operation.resource,
    { record: record(operation), query: queryFlags(operation), ...Output.flags, ...Connection.flags },
    Effect.fnUntraced(function* ({ key, query, record, url, ...output }) {
      const connection = { key, url }
      const path = pathOf(operation, yield* uuidOf(connection, operation, record))
      const { data } = yield* Service.call(connection)({
        method: "GET",
        path,
        query: [...sent(query), ...selected(operation, output)]
      })
      yield* Output.print(output, operation, [objectOf(data)], true)
    })
  )

/** `waypost list|get|search <resource>`, from the contract. */
export const list = verbCommand(
  "list",
  "locations --filter address.city:equals:Utrecht --fields identifier,name",
  (one) => described(listing(one), one)
)
export const get = verbCommand("get", "locations NL-7", (one) => described(getting(one), one))
export const search = verbCommand("search", "assets summer poster", (one) => described(searching(one), one))

const places = listOf("locations")!

/** `waypost near 52.09,5.12 --radius 5km` */
export const near = Command.make(
  "near",
  {
    // A text that begins with a minus is a flag, unless it is one number.
    place: Argument.String("place").pipe(
      Argument.withDescription("A latitude and a longitude: 52.09,5.12 or -33.92 18.42"),
      Argument.variadic({ min: 1, max: 2 })
    ),
    query: queryFlags({ query: places.query.filter(({ name }) => name !== "near") }),
    ...Output.flags,
    ...Connection.flags
  },
  Effect.fnUntraced(function* ({ place, ...input }) {
    const fields = ["distanceMetres", ...places.fields]
    yield* printPage(input, { ...places, fields }, [["near", place.join(",")]])
  })
).pipe(
  Command.withDescription("List the locations nearest to a place, with their distance in metres"),
  Command.withExamples([
    { command: "waypost near 52.09,5.12 --radius 5km", description: "Within five kilometres" },
    { command: "waypost near 52.09,5.12 --open-at now --limit 3", description: "The three nearest that are open" }
  ]),
  Command.provide(Connection.http)
)
