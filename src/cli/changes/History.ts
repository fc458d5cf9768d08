import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import type { Operation } from "../../api/Operations.ts"
import * as Connection from "../Connection.ts"
import * as Records from "../records/Records.ts"
import * as Service from "../records/Service.ts"
import * as Print from "./Print.ts"

const showing = (operation: Operation) =>
  Command.make(
    operation.resource,
    {
      record: Records.record(operation),
      query: Records.queryFlags(operation),
      json: Records.json,
      ...Connection.flags
    },
    Effect.fnUntraced(function* ({ json, key, query, record, url }) {
      const connection = { key, url }
      const path = Records.pathOf(operation, yield* Records.uuidOf(connection, operation, record))
      const answer = yield* Service.call(connection)({ method: "GET", path, query: Records.sent(query) })
      yield* Print.events(Service.recordsOf(answer), json)
      if (answer["more"] === true) yield* Console.error(`There are more: --after ${String(answer["cursor"])}`)
    })
  )

/** `waypost history <resource> <uuid|key>` */
export const command = Records.verbCommand("history", "Show what changed in a record, also in a deleted one", (one) =>
  Records.described(showing(one), one)
)
