import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { type Operation, operations, type Verb } from "../../api/Operations.ts"
import { print as printFilter } from "../../domain/query/FilterSyntax.ts"
import { isUuid } from "../../domain/schema/Fields.ts"
import * as Connection from "../Connection.ts"
import { CommandError } from "../Failures.ts"
import * as Service from "./Service.ts"

const all = operations()

export const listOf = (resource: string) =>
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

export type Query = Readonly<Record<string, Option.Option<string>>>

export const sent = (query: Query) =>
  Object.entries(query).flatMap(([name, value]) => (Option.isSome(value) ? [[name, value.value] as const] : []))

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

export const described = <Name extends string, Input, Context, E, R>(
  command: Command.Command<Name, Input, Context, E, R>,
  { description, summary }: Operation
) =>
  command.pipe(
    Command.withDescription(`${summary}. ${description}`),
    Command.withShortDescription(summary),
    Command.provide(Connection.http)
  )

const commandsOf = (verb: Verb) => all.filter((operation) => operation.verb === verb)

export const verbCommand = <Name extends Verb, C extends Command.Command.Any>(
  verb: Name,
  example: string,
  make: (operation: Operation) => C
) =>
  Command.make(verb).pipe(
    Command.withExamples([{ command: `waypost ${verb} ${example}` }]),
    Command.withSubcommands(commandsOf(verb).map((operation) => make(operation)))
  )
