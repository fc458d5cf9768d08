import { Console, Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { operations } from "../../api/Operations.ts"
import { optionalText } from "../CommonFlags.ts"
import * as Connection from "../Connection.ts"
import * as Service from "./Service.ts"

/** The resources whose records can be restored. */
const resources = operations()
  .filter(({ query, verb }) => verb === "get" && query.some(({ name }) => name === "at"))
  .map(({ resource }) => resource)

/** `waypost restore-record`: restores a record from the log of changes. */
export const command = Command.make(
  "restore-record",
  {
    resource: Argument.Literals("resource", resources).pipe(Argument.withDescription("The resource of the record")),
    uuid: Argument.String("uuid").pipe(Argument.withDescription("The uuid of the record")),
    event: optionalText(
      "event",
      "The id of the event after which the record had the state; required if the record exists"
    ),
    ...Connection.flags
  },
  Effect.fnUntraced(function* ({ event, key, resource, url, uuid }) {
    yield* Service.call({ key, url })({
      method: "POST",
      path: `/v1/${resource}/${encodeURIComponent(uuid.toLowerCase())}/restore`,
      body: Option.match(event, { onNone: () => ({}), onSome: (eventId) => ({ eventId }) })
    })
    yield* Console.log(`Restored ${uuid.toLowerCase()} of ${resource}`)
  })
).pipe(
  Command.withDescription(
    "Restore a deleted record, or give an existing one the state after an event. What was not restored is printed as a warning."
  ),
  Command.withShortDescription("Restore a record from the log of changes"),
  Command.withExamples([{ command: "waypost restore-record locations 01936f0e-7c4b-7000-8000-000000000000" }]),
  Command.provide(Connection.http)
)
