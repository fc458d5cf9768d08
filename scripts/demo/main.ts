import "effect/schema/SchemaJITCompiler/enable"
import { Console, Effect, Redacted, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Failures from "../../src/cli/Failures.ts"
import { report } from "../../src/cli/transfer/Import.ts"
import * as Sending from "../../src/cli/transfer/Sending.ts"
import * as Progress from "../../src/cli/Progress.ts"
import { resources } from "../../src/cli/transfer/Resources.ts"
import type { Row } from "../../src/cli/files/Row.ts"
import * as Upsert from "../../src/cli/transfer/Upsert.ts"
import { Client } from "../../src/client/Client.ts"
import { fillAssets } from "./pictures.ts"
import { places } from "./places.ts"
import { posts } from "./posts.ts"
import { products } from "./products.ts"
import { keptKey, runMain, serve } from "../service.ts"

// Starts the service on its own data folder and fills it once through the API with an invented brand in real places.
// Settings of another installation in the environment are ignored.
process.env["DATA_DIR"] ??= ".data/demo"
process.env["DATABASE_URL"] = ""
process.env["PUBLIC_URL"] = ""
process.env["STORAGE"] = ""

interface Records {
  readonly name: string
  readonly rows: () => ReadonlyArray<Row>
}

/** Imports the records of every kind of which the service has none. */
const importAll = Effect.fnUntraced(function* (kinds: ReadonlyArray<Records>) {
  const client = yield* Client
  for (const { name, rows } of kinds) {
    const resource = resources.find((candidate) => candidate.name === name)!
    const { pagination } = yield* resource.list(client)({ limit: 1, sortBy: "createdAt", sortOrder: "asc" })
    if ((pagination.total ?? 0) > 0) continue
    const all = rows()
    const summary = Upsert.emptySummary()
    const { seconds, value } = yield* Stream.fromIterable(all).pipe(
      Sending.upsertAll(client, resource, { concurrency: 32, summary }),
      Stream.runCollect,
      Progress.show(() => ({ done: Upsert.rowsOf(summary), fraction: Upsert.rowsOf(summary) / all.length })),
      Progress.timed
    )
    yield* Console.log(report(name, summary, seconds))
    const [refused] = value
    if (refused !== undefined) yield* Console.log(`  refused, for example: ${JSON.stringify(refused.reasons)}`)
  }
})

/** What to do with the demo. */
const farewell = (url: string, key: string) => `
The demo is ready: ${url}/console
Sign in with the API key: ${key}

Three things to try in another terminal, after this line:

  export WAYPOST_URL=${url} WAYPOST_API_KEY=${key}

  npx waypost list locations --filter "address.city:equals:Amsterdam"   branches by any field
  npx waypost search assets crossant --locale fr                        pictures, in spite of the typo
  curl "$WAYPOST_URL/v1/products?limit=3" -H "Authorization: $WAYPOST_API_KEY"

Ctrl-C stops the demo; the next npm run demo continues with the same data.
`

const fill = Effect.fnUntraced(function* (url: string, key: string) {
  yield* importAll(places)
  const assets = yield* fillAssets
  yield* importAll([
    { name: "products", rows: () => products(assets) },
    { name: "posts", rows: () => posts(assets) }
  ])
  yield* Console.log(farewell(url, key))
})

runMain(
  Effect.gen(function* () {
    const key = yield* keptKey("demo-key")
    return yield* serve({
      quiet: true,
      onServing: (url) =>
        fill(url, key).pipe(
          Effect.provide([Client.layer({ baseUrl: url, apiKey: Redacted.make(key) }), FetchHttpClient.layer]),
          Effect.catchDefect(Effect.fail),
          Effect.catch((error) => Console.error(`The demo could not be filled: ${Failures.describe(error)}`))
        )
    })
  })
)
