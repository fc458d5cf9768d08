import { Console, Effect, Option } from "effect"
import { Command } from "effect/cli"
import { type Json, objectOf, objectsIn } from "../../domain/schema/Json.ts"
import { json, optionalText } from "../CommonFlags.ts"
import * as Connection from "../Connection.ts"
import * as Contract from "../records/Contract.ts"
import * as Service from "../records/Service.ts"
import * as Table from "../records/Table.ts"

const resources = { user: "users", location: "locations", product: "products", post: "posts" } as const

/** The decision with the actions, and a line for each rule. */
const linesOf = ({ actions, decision, reasons }: Json): string => {
  const done = Array.isArray(actions) && actions.length > 0 ? `: ${actions.map(Table.cellOf).join(", ")}` : ""
  const rules = objectsIn(reasons).map((reason) =>
    [
      Table.cellOf(reason["effect"]).padEnd(5),
      Table.cellOf(reason["code"]).padEnd(17),
      Table.cellOf(reason["message"])
    ].join("  ")
  )
  return [`${Table.cellOf(decision)}${done}`, "", ...rules].join("\n")
}

/** `waypost access --user <uuid|username> --product <uuid|identifier>` */
export const command = Command.make(
  "access",
  {
    named: {
      user: optionalText("user", "The uuid or the username of a user"),
      location: optionalText("location", "The uuid or the identifier of a location, instead of a user"),
      product: optionalText("product", "The uuid or the identifier of a product"),
      post: optionalText("post", "The uuid or the slug of a post, instead of a product")
    },
    json,
    ...Connection.flags
  },
  Effect.fnUntraced(function* ({ json, key, named, url }) {
    const connection = { key, url }
    const query: Array<readonly [string, string]> = []
    for (const name of ["user", "location", "product", "post"] as const) {
      const value = named[name]
      if (Option.isNone(value)) continue
      query.push([name, yield* Contract.uuidOf(connection, { resource: resources[name] }, value.value)])
    }
    const { data } = yield* Service.call(connection)({ method: "GET", path: "/v1/access", query })
    yield* Console.log(json ? JSON.stringify(data) : linesOf(objectOf(data)))
  })
).pipe(
  Command.withExamples([
    {
      command: "waypost access --user anna.bakker --product WIN-1",
      description: "Why Anna sees the poster, or does not"
    },
    { command: "waypost access --location U-1 --post spring --json", description: "A branch and a post, as JSON" }
  ]),
  Command.provide(Connection.http)
)
