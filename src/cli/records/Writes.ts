import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import type { Operation } from "../../api/Operations.ts"
import { objectOf } from "../../domain/schema/Json.ts"
import { json } from "../CommonFlags.ts"
import * as Connection from "../Connection.ts"
import * as Body from "./Body.ts"
import { described, pathOf, queryFlags, record, sent, uuidOf, verbCommand } from "./Contract.ts"
import * as Service from "./Service.ts"

/** Prints the uuid of the record that was written. */
const printWritten = Effect.fnUntraced(function* (done: string, { resource }: Operation, uuid: unknown, json: boolean) {
  yield* Console.log(json ? JSON.stringify({ uuid }) : `${done} ${String(uuid)} of ${resource}`)
})

const creating = (operation: Operation) =>
  Command.make(
    operation.resource,
    { query: queryFlags(operation), ...Body.flags, json, ...Connection.flags },
    Effect.fnUntraced(function* ({ json, key, query, url, ...input }) {
      const body = yield* Body.read(input, operation.payload!)
      const { path } = operation
      const { data } = yield* Service.call({ key, url })({ method: "POST", path, query: sent(query), body })
      const created = objectOf(data)
      // What an answer has in addition to the uuid, such as the secret of a key or of a webhook, can be only in it.
      if (json || Object.keys(created).length > 1) return yield* Console.log(JSON.stringify(created))
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

/** `waypost create|update|delete <resource>`, from the contract. */
export const create = verbCommand("create", 'locations --set name="De Hoek" --set identifier=NL-7', (one) =>
  described(creating(one), one)
)
export const update = verbCommand("update", "locations NL-7 --set address.city=Utrecht", (one) =>
  described(updating(one), one)
)
export const remove = verbCommand("delete", "locations NL-7", (one) => described(deleting(one), one))
