import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { FetchHttpClient } from "effect/http"
import { type Operation, operations, type Verb } from "../../api/Operations.ts"
import { print as printFilter } from "../../domain/query/FilterSyntax.ts"
import { isUuid } from "../../domain/schema/Fields.ts"
import * as Connection from "../Connection.ts"
import { CommandError } from "../Failures.ts"
import * as Progress from "../Progress.ts"
import * as Body from "./Body.ts"
import * as Output from "./Output.ts"
import * as Service from "./Service.ts"

const all = operations()

const listOf = (resource: string) =>
  all.find((operation) => operation.resource === resource && operation.verb === "list")

/** A flag for each parameter of the query: `--sort-by` for `sortBy`. */
export const queryFlags = ({
  query
}: Pick<Operation, "query">): Readonly<Record<string, Flag.Flag<Option.Option<string>>>> =>
  Object.fromEntries(
    // The flag `--fields` selects what is printed.
    query
      .filter(({ name }) => name !== "fields")
      .map(({ description, name }) => {
        const flag = Flag.String(name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`))
        const [first = ""] = (description ?? "").split(/(?<=[.;:]) /)
        return [name, Flag.optional(first === "" ? flag : Flag.withDescription(flag, first.replace(/[.;:]$/, "")))]
      })
  )

type Query = Readonly<Record<string, Option.Option<string>>>

export const sent = (query: Query) =>
  Object.entries(query).flatMap(([name, value]) => (Option.isSome(value) ? [[name, value.value] as const] : []))

/** The query for an answer that has only the fields to print: a path of the service has no place in a list. */
const selected = ({ query }: Operation, { fields }: Pick<Output.Input, "fields">) =>
  query.some(({ name }) => name === "fields") && Option.isSome(fields)
    ? [["fields", fields.value.replaceAll(/\.\d+(?=[.,]|$)/g, "")] as const]
    : []

/** The field that names a record to people, in the records of a resource. */
const keyOf = (resource: string) => Service.naturalKey(listOf(resource)?.fields ?? [])

export const record = ({ resource }: Operation) => {
  const key = Option.match(keyOf(resource), { onNone: () => "", onSome: (name) => ` or the ${name}` })
  return Argument.String("record").pipe(Argument.withDescription(`The uuid${key} of the record`))
}

/** The uuid of the record with a uuid or a name. */
export const uuidOf = Effect.fnUntraced(function* (
  connection: Connection.Input,
  { resource }: Pick<Operation, "resource">,
  name: string
) {
  const key = keyOf(resource)
  if (isUuid(name.toLowerCase()) || Option.isNone(key)) return name.toLowerCase()
  const filter = printFilter([{ field: key.value, operator: "equals", value: name }])
  const answer = yield* Service.call(connection)({
    method: "GET",
    path: `/v1/${resource}`,
    query: [
      ["limit", "2"],
      ["filter", filter]
    ]
  })
  const found = Service.recordsOf(answer).map(({ uuid }) => String(uuid))
  if (found.length === 1) return found[0]!
  const message =
    found.length === 0
      ? `No record of ${resource} has the ${key.value} "${name}"`
      : `Several records of ${resource} have the ${key.value} "${name}"; pass the uuid of one`
  return yield* new CommandError({ message })
})

export const pathOf = ({ path }: Operation, uuid: string) => path.replace(":uuid", encodeURIComponent(uuid))

/** Prints the uuid of the record that was written. */
const printWritten = Effect.fnUntraced(function* (done: string, { resource }: Operation, uuid: unknown, json: boolean) {
  yield* Console.log(json ? JSON.stringify({ uuid }) : `${done} ${String(uuid)} of ${resource}`)
})

export const json = Flag.Boolean("json").pipe(Flag.withDescription("Print JSON"), Flag.withDefault(false))

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
  const total = Service.totalOf(answer)
  if (total > records.length) {
    yield* Console.error(
      `${Progress.count(records.length)} of ${Progress.count(total)}; --page and --limit show others, waypost export writes all`
    )
  }
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
    Effect.fnUntraced(function* ({ key, query, url, words, ...output }) {
      const answer = yield* Service.call({ key, url })({
        method: "GET",
        path: operation.path,
        query: [["search", words.join(" ")], ...sent(query), ...selected(operation, output)]
      })
      yield* Output.print(output, operation, Service.recordsOf(answer), false)
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
      yield* Output.print(output, operation, [Service.recordOf(data)], true)
    })
  )

const creating = (operation: Operation) =>
  Command.make(
    operation.resource,
    { query: queryFlags(operation), ...Body.flags, json, ...Connection.flags },
    Effect.fnUntraced(function* ({ json, key, query, url, ...input }) {
      const body = yield* Body.read(input, operation.payload!)
      const { path } = operation
      const { data } = yield* Service.call({ key, url })({ method: "POST", path, query: sent(query), body })
      const created = Service.recordOf(data)
      // The secret of a key is only in this answer.
      if (json || created["key"] !== undefined) return yield* Console.log(JSON.stringify(created))
      yield* printWritten("Created", operation, created["uuid"], json)
    })
  )

const updating = (operation: Operation) =>
  Command.make(
    operation.resource,
    { record: record(operation), query: queryFlags(operation), ...Body.flags, json, ...Connection.flags },
    Effect.fnUntraced(function* ({ json, key, query, record, url, ...input }) {
      const connection = { key, url }
      const body = yield* Body.read(input, operation.payload!)
      const uuid = yield* uuidOf(connection, operation, record)
      const path = pathOf(operation, uuid)
      yield* Service.call(connection)({ method: "PATCH", path, query: sent(query), body })
      yield* printWritten("Updated", operation, uuid, json)
    })
  )

const deleting = (operation: Operation) =>
  Command.make(
    operation.resource,
    { record: record(operation), query: queryFlags(operation), json, ...Connection.flags },
    Effect.fnUntraced(function* ({ json, key, query, record, url }) {
      const connection = { key, url }
      const uuid = yield* uuidOf(connection, operation, record)
      yield* Service.call(connection)({ method: "DELETE", path: pathOf(operation, uuid), query: sent(query) })
      yield* printWritten("Deleted", operation, uuid, json)
    })
  )

export const described = <Name extends string, Input, Context, E, R>(
  command: Command.Command<Name, Input, Context, E, R>,
  { description, summary }: Operation
) =>
  command.pipe(
    Command.withDescription(`${summary}. ${description}`),
    Command.withShortDescription(summary),
    Command.provide(FetchHttpClient.layer)
  )

const commandsOf = (verb: Verb) => all.filter((operation) => operation.verb === verb)

export const verbCommand = <Name extends Verb, C extends Command.Command.Any>(
  verb: Name,
  description: string,
  make: (operation: Operation) => C
) =>
  Command.make(verb).pipe(
    Command.withDescription(description),
    Command.withSubcommands(commandsOf(verb).map((operation) => make(operation)))
  )

/** `waypost list|get|search|create|update|delete <resource>`, from the contract. */
export const list = verbCommand("list", "Show records as a table, JSON or CSV", (one) => described(listing(one), one))
export const get = verbCommand("get", "Show a record", (one) => described(getting(one), one))
export const search = verbCommand("search", "Find records by words", (one) => described(searching(one), one))
export const create = verbCommand("create", "Create a record", (one) => described(creating(one), one))
export const update = verbCommand("update", "Change a record", (one) => described(updating(one), one))
export const remove = verbCommand("delete", "Delete a record", (one) => described(deleting(one), one))

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
  Command.provide(FetchHttpClient.layer)
)
