import { type Context, Effect, Layer } from "effect"
import type { Database, Sql } from "../../../src/sql/Sql.ts"
import { fileRow } from "../requests/AssetRequests.ts"
import * as TestServer from "../TestServer.ts"
import { Identities } from "./Identities.ts"

type Services = TestServer.TestServer | Sql | Database

/** Two services, each on a database of its own, and which of their uuids stand for each other. */
export interface Pair {
  readonly identities: Identities
  /** The service that gets the operations one by one. */
  readonly single: <A, E>(effect: Effect.Effect<A, E, Services>) => Effect.Effect<A, E>
  /** The service that gets them in bulk. */
  readonly bulk: <A, E>(effect: Effect.Effect<A, E, Services>) => Effect.Effect<A, E>
  /** Files that assets can have. */
  readonly files: ReadonlyArray<string>
}

const started = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const context = yield* Layer.buildWithMemoMap(TestServer.layer(), yield* Layer.makeMemoMap, scope)
  return (effect: Effect.Effect<unknown, unknown, Services>) =>
    Effect.provide(effect, context as Context.Context<Services>)
})

export const make = Effect.gen(function* () {
  const [single, bulk] = (yield* Effect.all([started, started])) as unknown as [Pair["single"], Pair["bulk"]]
  const identities = new Identities()
  const files: Array<string> = []
  for (let number = 0; number < 60; number++) {
    const file = fileRow(`file-${number}.txt`)
    const [here, there] = [yield* single(file), yield* bulk(file)]
    identities.add(here, there)
    files.push(here)
  }
  return { identities, single, bulk, files } satisfies Pair
})
