import { setTimeout as sleep } from "node:timers/promises"
import type { Sql } from "postgres"
import { assert, describe, it } from "vitest"
import { flood } from "../support/proofs/BodyFlood.ts"
import { report } from "../support/proofs/Figures.ts"
import { assertUnharmed, duringAttack, figures, keyWith } from "../support/proofs/Neighbours.ts"
import * as Running from "../support/proofs/Running.ts"
import { converse, head } from "../support/proofs/Sockets.ts"
import { counted, tally } from "../support/Tally.ts"

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
  /** Fills the tables that the requests are about, except locations. */
  readonly fill?: (sql: Sql) => Promise<unknown>
}

const posts = 50

/** Adds posts of 2 MB, `large-1` and so on. */
const largePosts = (sql: Sql) => sql`
  insert into posts (uuid, slug, type, status, translations, audience, pinned)
    select uuidv7(), 'large-' || i, 'news', 'draft', jsonb_agg(jsonb_build_object(
      'locale', locale, 'title', 'Large', 'body', repeat('&amp;', 40000)) order by locale), '{}', false
    from generate_series(1, ${posts}) i, unnest('{da,de,en,es,fi,fr,it,nl,pl,sv}'::text[]) locale group by i`

const pinned = Array.from({ length: posts }, (_, number) =>
  JSON.stringify({ slug: `large-${number + 1}`, pinned: true })
).join("\n")

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
  },
  "plans that change posts of 2 MB": {
    connections: 6,
    path: "/v1/plans?resource=posts",
    type: "application/x-ndjson",
    bodies: () => [Buffer.from(pinned)],
    fill: largePosts
  }
}

const slowFiles = {
  "slow bodies of two keys": { keys: 2, sentAtOnce: 0, headers: [] },
  // Each key has a share of its own.
  "slow files of twenty keys that are kept for their `Idempotency-Key`": {
    keys: 20,
    sentAtOnce: 40 * 1024 ** 2,
    headers: ["Idempotency-Key: kept"]
  }
}

describe("many records of one key", () => {
  it.for(Object.entries(attacks))(
    "%s leave other keys their reads and writes",
    { timeout: 120_000 },
    async ([, { bodies, connections, fill, path, type }], ctx) => {
      await using running = await Running.start()
      const uuids = await Running.locations(running.sql, 1001)
      await fill?.(running.sql)
      // The neighbour writes the last one.
      const sent = bodies(uuids.toSorted().slice(0, 1000))
      const permissions = ["locations", "posts"].flatMap((name) => [`read:${name}`, `create:${name}`, `update:${name}`])
      const key = await keyWith(running, ...permissions)
      const url = `${running.url}${path}`
      const attack = () => flood({ url, key, type, connections, seconds, removeWith: running.key }, sent)
      const { alone, during, peak, result } = await duringAttack(running, attack)
      await report(ctx, { ...figures(alone, during), attacker: counted(result), "RSS MB": peak })
      assertUnharmed(during, limits)
      assert.isAtMost(peak, 1000)
    }
  )

  it.for(Object.entries(slowFiles))(
    "%s leave another key its bulk requests and plans",
    { timeout: 120_000 },
    async ([, { headers, keys, sentAtOnce }], ctx) => {
      await using running = await Running.start()
      await Running.locations(running.sql, 1000)
      const permissions = ["read:locations", "create:locations", "update:locations"]
      const slow: Array<string> = []
      while (slow.length < keys) slow.push(await keyWith(running, ...permissions))
      const calm = await keyWith(running, ...permissions)
      const plans = "/v1/plans?resource=locations"
      const ndjson = "application/x-ndjson"
      const first = Buffer.alloc(sentAtOnce, "\n")
      /** Sends rows at more than the rate that a plan must have. */
      const sendSlowly = (key: string) =>
        converse(running.url, async (socket) => {
          const length = `Content-Length: ${50 * 1024 ** 2}`
          socket.write(head("POST", plans, key, `Content-Type: ${ndjson}`, length, ...headers))
          socket.write(first)
          for (let second = 0; second < seconds && !socket.destroyed; second++) {
            socket.write(`${rows(1000, `slow-${second}`)}\n`)
            await sleep(1000)
          }
          socket.destroy()
        })
      const statuses: Array<number> = []
      const work = async (ended: AbortSignal) => {
        for (let number = 0; !ended.aborted; number++) {
          const sent = [
            ["/v1/locations/bulk", json, bulk([{ op: "create", data: branch(`calm-${number}`) }])],
            [plans, ndjson, Buffer.from(rows(10, `planned-${number}`))]
          ] as const
          for (const [path, type, body] of sent) {
            const answer = await fetch(`${running.url}${path}`, {
              method: "POST",
              headers: { authorization: calm, "content-type": type },
              body
            })
            statuses.push(answer.status)
            const { data } = (await answer.json()) as { readonly data?: { readonly uuid: string } }
            if (answer.status === 201) await running.call("DELETE", `/v1/plans/${data!.uuid}`)
            await sleep(100)
          }
        }
      }
      const attack = async () => {
        const ending = new AbortController()
        const working = work(ending.signal)
        await Promise.all([...slow, ...slow, ...slow].map(sendSlowly))
        ending.abort()
        await working
      }
      const { alone, during, peak } = await duringAttack(running, attack)
      await report(ctx, { ...figures(alone, during), "bulk requests and plans": tally(statuses), "RSS MB": peak })
      assert.deepStrictEqual([...new Set(statuses)], [200, 201])
      assertUnharmed(during, limits)
      assert.isAtMost(peak, 1000)
    }
  )
})
