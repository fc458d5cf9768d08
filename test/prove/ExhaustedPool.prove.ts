import { assert, describe, it } from "@effect/vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll } from "vitest"
import { type Service, start } from "../support/Service.ts"
import { until } from "../support/Until.ts"
import * as Database from "../support/proofs/Database.ts"
import { report } from "../support/proofs/Figures.ts"
import { assertUnavailable, slowest } from "./Responses.ts"

const inFlight = 64
const requests = 500
const poolSize = 10

let database: Database.Database
let service: Service
let uuid: string

beforeAll(async () => {
  database = await Database.make()
  service = await start({ DATABASE_URL: database.url, MAX_IN_FLIGHT: String(inFlight), KEY_SHARE: "1" })
  uuid = await service.create("/v1/locations", { name: "Exhausted", identifier: "exhausted" })
}, 60_000)

afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await database?.remove()
}, 60_000)

const create = (identifier: string) => service.call("POST", "/v1/locations", { name: "Waits", identifier })

/** Opens every connection, by making writes, reads of a record and a page wait for a lock for a moment. */
const fillPool = async () => {
  let round = 0
  await until("every connection is open", async () => {
    const holder = await database.session()
    await holder.query("begin")
    await holder.query("lock table locations in access exclusive mode")
    round++
    const asked = Promise.all([
      ...Array.from({ length: poolSize }, (_, index) => create(`warm-${round}-${index}`)),
      service.call("GET", `/v1/locations/${uuid}`),
      service.call("GET", "/v1/locations?limit=5")
    ])
    await sleep(500)
    await holder.close()
    for (const { status, text } of await asked) assert.isBelow(status, 300, text)
    return (await database.backends()).length === poolSize
  })
}

describe("an exhausted connection pool", () => {
  it("requests in flight wait up to the timeout, further ones are rejected at once, and no connection leaks", async (context) => {
    await fillPool()
    const before = (await database.backends()).length
    const holder = await database.session()
    await holder.query("begin")
    await holder.query("lock table locations in access exclusive mode")
    let maxBackends = 0
    const watching = setInterval(() => {
      void database.backends().then((backends) => (maxBackends = Math.max(maxBackends, backends.length)))
    }, 200)
    const answers = await Promise.all(Array.from({ length: requests }, (_, index) => create(`waits-${index}`))).finally(
      async () => {
        clearInterval(watching)
        await holder.query("rollback")
        await holder.close()
      }
    )
    const isShed = ({ body }: (typeof answers)[number]) => /in flight/.test(body.message)
    const shed = answers.filter(isShed)
    const waited = answers.filter((answer) => !isShed(answer))
    const again = await Promise.all(Array.from({ length: 20 }, (_, index) => create(`again-${index}`)))
    await sleep(1000)
    const backends = await database.backends()
    const stored = (await service.call("GET", "/v1/locations?filter=identifier:startsWith:waits")).body.pagination.total
    await report(context, {
      "rejected at once": shed.length,
      "within ms": slowest(shed),
      waited: waited.length,
      "at most s": slowest(waited) / 1000,
      "connections before": before,
      "at most": maxBackends,
      after: backends.length,
      "next ms": slowest(again)
    })

    for (const answer of answers) assertUnavailable(answer)
    assert.strictEqual(before, poolSize)
    assert.isAtLeast(waited.length, poolSize)
    assert.isAtMost(waited.length, inFlight)
    assert.strictEqual(shed.length, requests - waited.length)
    assert.isAtMost(slowest(waited), 20_300)
    assert.isAtMost(slowest(shed), 1000)
    assert.isAtMost(maxBackends, poolSize)
    assert.isAtMost(backends.length, before)
    assert.deepStrictEqual(
      backends.filter(({ state }) => state !== "idle"),
      []
    )
    assert.strictEqual(stored, 0)
    assert.deepStrictEqual(
      again.filter(({ status }) => status !== 201),
      []
    )
  })
})
