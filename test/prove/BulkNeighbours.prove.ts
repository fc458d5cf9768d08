import { assert, describe, it } from "vitest"
import { flood } from "../support/proofs/BodyFlood.ts"
import { report } from "../support/proofs/Figures.ts"
import { assertUnharmed, besideAttack, figures, keyWith } from "../support/proofs/Neighbours.ts"
import * as Running from "../support/proofs/Running.ts"
import { counted } from "../support/Tally.ts"

const seconds = 12
const limits = { read: 250, write: 400 }

const branch = (identifier: string) => ({ name: "Branch", identifier, address: { city: "Utrecht", countryCode: "NL" } })

const json = "application/json"
const bulk = (operations: ReadonlyArray<object>) => Buffer.from(JSON.stringify({ operations }))
const rows = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, number) => JSON.stringify(branch(`${prefix}-${number}`))).join("\n")

/** A request to a path, with the bodies that are sent in turn. */
interface Attack {
  readonly connections: number
  readonly path: string
  readonly type: string
  readonly bodies: (uuids: ReadonlyArray<string>) => ReadonlyArray<Buffer>
}

const large = (letter: string) =>
  Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((number) => [`extraDna${number}`, letter.repeat(1000)]))

const attacks: Readonly<Record<string, Attack>> = {
  "bulk requests of 7 MiB": {
    connections: 20,
    path: "/v1/locations/bulk",
    type: json,
    // Each changes what the other one has written.
    bodies: (uuids) =>
      ["a", "b"].map((letter) => bulk(uuids.map((uuid) => ({ op: "update", uuid, data: { other: large(letter) } }))))
  },
  "bulk requests whose operations all fail": {
    connections: 20,
    path: "/v1/locations/bulk",
    type: json,
    bodies: () => [bulk(Array.from({ length: 1000 }, () => ({ op: "create", data: branch("attack-same") })))]
  },
  "plans of 25,000 rows": {
    connections: 6,
    path: "/v1/plans?resource=locations",
    type: "application/x-ndjson",
    bodies: () => [Buffer.from(rows(25_000, "planned"))]
  }
}

describe("many records of one key", () => {
  it.for(Object.entries(attacks))(
    "%s leave other keys their reads and writes",
    { timeout: 120_000 },
    async ([, { bodies, connections, path, type }], ctx) => {
      await using running = await Running.start()
      const uuids = await Running.locations(running.sql, 1001)
      // The neighbour writes the last one.
      const sent = bodies(uuids.toSorted().slice(0, 1000))
      const key = await keyWith(running, "read:locations", "create:locations", "update:locations")
      const url = `${running.url}${path}`
      const attack = () => flood({ url, key, type, connections, seconds, removeWith: running.key }, sent)
      const { alone, during, peak, result } = await besideAttack(running, attack)
      await report(ctx, { ...figures(alone, during), attacker: counted(result), "RSS MB": peak })
      assertUnharmed(during, limits)
      assert.isAtMost(peak, 1000)
    }
  )
})
