import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { report } from "../support/proofs/Figures.ts"
import * as OtherPostgres from "../support/proofs/OtherPostgres.ts"
import * as Service from "../support/Service.ts"

const size = 1000
const connections = 2
const requests = 8
const rounds = 5

const branch = (identifier: string) => ({
  name: "Bakkerij De Vries, Utrecht",
  identifier,
  postalCodes: ["3511 AB"],
  address: { addressLine1: "Oudegracht 158", city: "Utrecht", countryCode: "NL", zipcode: "3511 AZ" },
  contact: { phone: "+31301234567", email: "info@example.com" },
  coordinates: { latitude: 52.0907374, longitude: 5.1214201 },
  locale: "nl-NL"
})

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1]!

/** The embedded server is compiled for size, those of distributions for speed. */
const servers = {
  "the embedded PostgreSQL": () => Service.start(),
  "the PostgreSQL 15 of Debian 12": async () => {
    await using stack = new AsyncDisposableStack()
    const folder = mkdtempSync(join(tmpdir(), "waypost-bulk-"))
    stack.defer(() => rmSync(folder, { recursive: true, force: true }))
    chmodSync(folder, 0o755)
    const { url } = stack.use(await OtherPostgres.start(join(folder, "data"), { isDurable: true }))
    const service = stack.use(await Service.start({ DATABASE_URL: url }))
    const disposal = stack.move()
    return { ...service, [Symbol.asyncDispose]: () => disposal.disposeAsync() }
  }
}

describe.each(Object.entries(servers))(
  "bulk requests of 1,000 locations over two connections, with %s,",
  (name, start) => {
    it("create at least 8,000 and patch at least 6,000 locations a second at the median, change log included", async (ctx) => {
      await using service = await start()
      const bulk = async (operations: ReadonlyArray<object>, status: number) => {
        const { body: json } = await service.call("POST", "/v1/locations/bulk", { operations })
        assert.deepStrictEqual(json.counts, { [status]: operations.length })
        return json.data.map(({ uuid }: { readonly uuid: string }) => uuid) as ReadonlyArray<string>
      }
      /** The operations a second of batches that are sent over some connections. */
      const rateOf = async (batches: ReadonlyArray<() => Promise<unknown>>) => {
        const began = performance.now()
        const queue = [...batches]
        await Promise.all(
          Array.from({ length: connections }, async () => {
            for (let next = queue.shift(); next !== undefined; next = queue.shift()) await next()
          })
        )
        return (batches.length * size) / ((performance.now() - began) / 1000)
      }
      const created: Array<number> = []
      const patched: Array<number> = []
      // The first round warms up.
      for (let round = 0; round <= rounds; round++) {
        const uuids: Array<ReadonlyArray<string>> = []
        const creations = Array.from({ length: requests }, (_, batch) => async () => {
          const data = Array.from({ length: size }, (_, index) => branch(`B-${round}-${batch}-${index}`))
          uuids.push(
            await bulk(
              data.map((data) => ({ op: "create", data })),
              201
            )
          )
        })
        const creating = await rateOf(creations)
        const patches = uuids.map((some) => async () => {
          const data = { name: "Renamed", contact: { phone: "+31300000000" } }
          await bulk(
            some.map((uuid) => ({ op: "update", uuid, data })),
            200
          )
        })
        const patching = await rateOf(patches)
        if (round > 0) {
          created.push(creating)
          patched.push(patching)
        }
      }
      await report(ctx, {
        server: name,
        "created a second": Math.round(median(created)),
        "patched a second": Math.round(median(patched)),
        rounds
      })
      assert.isAtLeast(median(created), 8000)
      assert.isAtLeast(median(patched), 6000)
    }, 120_000)
  }
)
