import { DateTime, Effect, Option, Schema, Stdio, Stream } from "effect"
import { Command } from "effect/cli"
import { Client, events, type FollowQuery } from "../../client/Client.ts"
import { Event } from "../../domain/changes/Event.ts"
import { maxLimit } from "../../domain/query/PageLimit.ts"
import { objectOf } from "../../domain/schema/Json.ts"
import { json, numberTo, optionalText, toggle } from "../CommonFlags.ts"
import * as Connection from "../Connection.ts"
import { CommandError } from "../Failures.ts"
import * as Output from "../records/Output.ts"
import * as Print from "./Print.ts"

const timeOf = (text: string) =>
  Effect.fromOption(
    DateTime.make(text),
    () => new CommandError({ message: `--since: Expected a time such as 2026-11-22T10:15:00Z, not ${text}` })
  )

const wireOf = (event: Event) => Effect.map(Effect.orDie(Schema.encodeEffect(Event)(event)), objectOf)

interface Page {
  readonly limit: number
  readonly order: "asc" | "desc"
}

/** The events of all pages; one that is empty can have others behind it. */
const read = (query: FollowQuery, page: Page) =>
  Stream.unwrap(
    Effect.map(Client, (client) =>
      Stream.paginate(query.after, (after) =>
        Effect.map(
          client.events.list({ query: { ...query, ...page, ...(after === undefined ? {} : { after }) } }),
          ({ cursor, data, more }) => [data, more ? Option.some(cursor) : Option.none()] as const
        )
      )
    )
  )

/** The newest events, the latest first, or all those since a time. */
const found = (query: FollowQuery, limit: number) =>
  query.since === undefined
    ? Stream.take(read(query, { limit, order: "desc" }), limit)
    : read(query, { limit: maxLimit, order: "asc" })

/** The events behind the last one there is, or since a time, for ever. */
const followed = Effect.fnUntraced(function* (query: FollowQuery) {
  if (query.since !== undefined) return events(query)
  const client = yield* Client
  return events({ ...query, after: (yield* client.events.list({ query: { limit: 1, order: "desc" } })).cursor })
})

const flags = {
  follow: toggle(
    "follow",
    "Print events as they are committed, until the command is interrupted; JSON is one line each"
  ),
  types: optionalText("types", "The types of event, comma-separated: location.*,user.deleted"),
  record: optionalText("record", "The uuid of a record, from either side of relations"),
  since: optionalText("since", "The time of the first event, such as 2026-11-22T10:15:00Z; default: the latest events"),
  limit: numberTo("limit", "Without --since and --follow, the number of events", maxLimit, 20),
  json,
  ...Connection.flags
}

const queryOf = Effect.fnUntraced(function* (input: {
  readonly record: Option.Option<string>
  readonly since: Option.Option<string>
  readonly types: Option.Option<string>
}) {
  return {
    ...(Option.isSome(input.types) ? { types: input.types.value.split(",") } : {}),
    ...(Option.isSome(input.record) ? { record: input.record.value } : {}),
    ...(Option.isSome(input.since) ? { since: yield* timeOf(input.since.value) } : {})
  } satisfies FollowQuery
})

/** `waypost events` */
export const command = Command.make(
  "events",
  flags,
  Effect.fnUntraced(function* ({ follow, json, key, limit, url, ...selection }) {
    const query = yield* queryOf(selection)
    const work = Effect.gen(function* () {
      if (follow) {
        const isJson = yield* Output.isJson(json)
        const stdio = yield* Stdio.Stdio
        return yield* (yield* followed(query)).pipe(
          Stream.mapEffect(wireOf),
          Stream.map((wire) => `${isJson ? JSON.stringify(wire) : Print.lineOf(wire)}\n`),
          Stream.run(stdio.stdout())
        )
      }
      return yield* Print.events(Stream.mapEffect(found(query, limit), wireOf), json)
    })
    yield* Effect.provide(work, Connection.layer({ key, url }))
  })
).pipe(
  Command.withDescription(
    "Show the changes of all records: the latest first, with --since the oldest first, with --follow as they are committed"
  ),
  Command.withExamples([
    { command: "waypost events --types 'location.*' --since 2026-11-22" },
    { command: "waypost events --follow --json" }
  ])
)
