import { assert, describe, it } from "vitest"
import { report } from "../support/proofs/Figures.ts"
import { assertUnharmed, besideAttack, figures, keyWith } from "../support/proofs/Neighbours.ts"
import * as Running from "../support/proofs/Running.ts"
import { counted } from "../support/Tally.ts"

const seconds = 12
const limits = { read: 250, write: 400 }

const branch = (identifier: string, extra = "") => ({
  name: "Branch",
  identifier,
  address: { city: "Utrecht", countryCode: "NL" },
  ...(extra === "" ? {} : { other: Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((n) => [`extraDna${n}`, extra])) })
})

let number = 0
const bulk = (identifier: () => string, extra = "") =>
  JSON.stringify({
    operations: Array.from({ length: 1000 }, () => ({ op: "create", data: branch(identifier(), extra) }))
  })
const next = () => `attack-${number++}`

/** What one key sends, over how many connections. */
const attacks: Readonly<
  Record<string, readonly [connections: number, request: () => readonly [string, string, string]]>
> = {
  "bulk requests of 8 MiB": [20, () => ["/v1/locations/bulk", "application/json", bulk(next, "x".repeat(1000))]],
  "bulk requests whose operations all fail": [
    20,
    () => ["/v1/locations/bulk", "application/json", bulk(() => "attack-same")]
  ],
  "plans of 25,000 rows": [
    6,
    () => [
      "/v1/plans?resource=locations",
      "application/x-ndjson",
      Array.from({ length: 25_000 }, () => JSON.stringify(branch(next()))).join("\n")
    ]
  ]
}

describe("many records of one key", () => {
  it.for(Object.entries(attacks))(
    "%s leave other keys their reads and writes",
    { timeout: 120_000 },
    async ([, [connections, request]], ctx) => {
      await using running = await Running.start()
      await Running.locations(running.sql, 1000)
      const key = await keyWith(running, "read:locations", "create:locations", "update:locations")
      const statuses = new Map<number, number>()
      const attack = async () => {
        const end = performance.now() + seconds * 1000
        const send = async () => {
          while (performance.now() < end) {
            const [path, type, body] = request()
            const headers = { authorization: key, "content-type": type }
            const answer = await fetch(`${running.url}${path}`, { method: "POST", headers, body })
            const { data } = (await answer.json()) as { data?: { uuid?: string } }
            statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
            if (answer.status === 201) await running.call("DELETE", `/v1/plans/${data!.uuid}`)
          }
        }
        await Promise.all(Array.from({ length: connections }, send))
      }
      const { alone, during, peak } = await besideAttack(running, attack)
      await report(ctx, { ...figures(alone, during), attacker: counted(statuses), "RSS MB": peak })
      assertUnharmed(during, limits)
      assert.isAtMost(peak, 1000)
    }
  )
})
