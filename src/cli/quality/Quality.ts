import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { type Json, objectOf, objectsIn } from "../../domain/schema/Json.ts"
import * as Connection from "../Connection.ts"
import * as Progress from "../Progress.ts"
import * as Output from "../records/Output.ts"
import * as Contract from "../records/Contract.ts"
import * as Service from "../records/Service.ts"

const query = Contract.queryFlags({
  query: [
    {
      name: "filter",
      description: "Conditions such as issues.rule:equals:missingPhone or address.countryCode:equals:NL"
    },
    { name: "sortBy", description: "score, or a field by which locations are sorted" },
    { name: "sortOrder", description: "asc or desc" },
    { name: "limit", description: "How many locations; 25 unless given" },
    { name: "page", description: undefined }
  ]
})

/** What a row shows of a location: a table has one line for it. */
const shown = { fields: ["score", "identifier", "name", "rules"], lists: ["issues"] }

const rowOf = ({ identifier, issues, name, score, uuid }: Json): Json => ({
  uuid,
  identifier,
  name,
  score,
  rules: objectsIn(issues)
    .map(({ rule }) => String(rule))
    .join(" "),
  issues
})

const locations = Command.make(
  "locations",
  { query, ...Output.flags, ...Connection.flags },
  Effect.fnUntraced(function* ({ key, query, url, ...output }) {
    const answer = yield* Service.call({ key, url })({
      method: "GET",
      path: "/v1/locations/quality",
      query: [...Contract.sent(query), ["fields", "uuid,identifier,name,score,issues"]]
    })
    const rows = Service.recordsOf(answer).map(rowOf)
    yield* Output.print(output, shown, rows, false)
    const counts = Object.entries(objectOf(answer["counts"])).toSorted((a, b) => Number(b[1]) - Number(a[1]))
    yield* Console.error(
      counts.length === 0
        ? "No location breaks a rule"
        : `Locations by rule: ${counts.map(([rule, count]) => `${rule} ${Progress.count(Number(count))}`).join(", ")}`
    )
    yield* Output.printRest(rows.length, Service.totalOf(answer))
  })
).pipe(
  Command.withDescription(
    "List locations with a score and the rules that their data breaks, the worst first. New data counts within a minute."
  ),
  Command.withShortDescription("List locations with what is wrong with their data"),
  Command.withExamples([{ command: "waypost quality locations --limit 20" }]),
  Command.provide(Connection.http)
)

/** `waypost quality locations` */
export const command = Command.make("quality").pipe(
  Command.withExamples([{ command: "waypost quality locations --limit 20" }]),
  Command.withSubcommands([locations])
)
