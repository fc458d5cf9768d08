import { Console, Effect, Stream } from "effect"
import { Command } from "effect/cli"
import type { Operation } from "../../api/Operations.ts"
import { json } from "../CommonFlags.ts"
import * as Connection from "../Connection.ts"
import * as Contract from "../records/Contract.ts"
import * as Service from "../records/Service.ts"
import * as Print from "./Print.ts"

const showing = (operation: Operation) =>
  Command.make(
    operation.resource,
    {
      record: Contract.record(operation),
      query: Contract.queryFlags(operation),
      json,
      ...Connection.flags
    },
    Effect.fnUntraced(function* ({ json, key, query, record, url }) {
      const connection = { key, url }
      const path = Contract.pathOf(operation, yield* Contract.uuidOf(connection, operation, record))
      const answer = yield* Service.call(connection)({ method: "GET", path, query: Contract.sent(query) })
      yield* Print.events(Stream.fromArray(Service.recordsOf(answer)), json)
      if (answer["more"] === true) yield* Console.error(`There are more: --after ${String(answer["cursor"])}`)
    })
  )

/** `waypost history <resource> <uuid|key>` */
export const command = Contract.verbCommand("history", "locations NL-7", (one) =>
  Contract.described(showing(one), one)
).pipe(Command.withDescription("Show what changed in a record, also in a deleted one"))
