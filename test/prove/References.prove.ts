import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomOf } from "../support/Random.ts"
import { send } from "../support/requests/Requests.ts"
import * as Server from "../support/TestServer.ts"
import { TestServer } from "../support/TestServer.ts"
import { counted } from "../support/Tally.ts"
import { report } from "../support/proofs/Figures.ts"
import { type Dice, type Kind, type KindName, kinds } from "./StormKinds.ts"
import { type Link, type Pair, pairs } from "./StormPairs.ts"
import * as Consistency from "./Consistency.ts"

const seconds = 5
/** Concurrent pairs, writers per pair, and records per kind. */
const lanes = 2
const writers = 12
const records = 6

const random = randomOf(20_261_121)
const below = (limit: number) => Math.floor(random() * limit)
const dice: Dice = {
  below,
  chance: (probability) => random() < probability,
  pick: (values) => values[below(values.length)]!
}

/** The number of responses per status, and descriptions of unexpected ones. */
const seen = new Map<number, number>()
const wrong: Array<string> = []
/** Assets that were deleted with `force`, although they may be in use. */
const forced = new Set<string>()
const count = (status: number) => seen.set(status, (seen.get(status) ?? 0) + 1)

/** Sends a request, sometimes with `If-Match`. */
const ask = Effect.fnUntraced(function* (method: string, path: string, body?: unknown) {
  const { fetch, fullKey } = yield* TestServer
  const authorization = { authorization: fullKey }
  const record = path.split("?")[0]!
  const isConditional =
    method !== "GET" && method !== "POST" && !/\/(?:users|locations|groups|media)$/.test(record) && dice.chance(0.1)
  const read = isConditional ? yield* Effect.promise(() => fetch(record, { headers: authorization })) : undefined
  const tag = read?.status === 200 ? read.headers.get("etag") : null
  const headers = {
    ...authorization,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(tag === null ? {} : { "if-match": tag })
  }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  return yield* Effect.promise(async () => {
    try {
      const { status, ...response } = await answerOf(fetch(path, { method, headers, ...sent }))
      count(status)
      const isAllowed = [200, 201, 400, 404, 409].includes(status) || (status === 412 && tag !== null)
      if (!isAllowed) wrong.push(`${method} ${path} ${JSON.stringify(body)}: ${status} ${response.text}`)
      return { status, body: JSON.parse(response.text) }
    } catch (error) {
      // A response that its schema does not decode.
      wrong.push(`${method} ${path}: ${String(error).slice(0, 500)}`)
      return { status: 0, body: undefined }
    }
  })
})

const answerOf = async (response: Promise<Response>) => {
  const { status } = await response
  return { status, text: await (await response).text() }
}

/** Concurrent writers create, change, link and delete records of two kinds. */
const storm = Effect.fnUntraced(function* ({ kinds: both, links }: Pair) {
  const pools = new Map<KindName, Array<string>>()
  const create = Effect.fnUntraced(function* (name: KindName) {
    const kind: Kind = kinds[name]
    const { body } = yield* ask("POST", kind.path, yield* kind.create(dice))
    return body?.data?.uuid as string | undefined
  })
  for (const name of both) {
    const uuids = yield* Effect.forEach(Array.from({ length: records }), () => create(name))
    pools.set(
      name,
      uuids.filter((uuid) => uuid !== undefined)
    )
  }
  const one = (name: KindName) => dice.pick(pools.get(name)!)
  const some = (name: KindName) => [...new Set(Array.from({ length: below(4) }, () => one(name)))]
  const replaceOne = Effect.fnUntraced(function* (name: KindName) {
    const pool = pools.get(name)!
    const place = below(pool.length)
    const kind: Kind = kinds[name]
    const query = dice.pick(kind.deletions ?? [""])
    if (query === "?force=true") forced.add(pool[place]!)
    const gone = yield* ask("DELETE", `${kind.path}/${pool[place]}${query}`)
    const uuid = gone.status === 200 || gone.status === 404 ? yield* create(name) : undefined
    if (uuid !== undefined) pool[place] = uuid
  })
  const link = Effect.fnUntraced(function* ({ body, method, path }: Link) {
    const answer = yield* ask(method, path, body)
    // A link that creates a record creates one of the second kind.
    if (method === "POST" && answer.status === 201) pools.get(both[1])![below(records)] = answer.body.data.uuid
  })
  const step = Effect.suspend(() => {
    const name = dice.pick(both)
    const { patch, path }: Kind = kinds[name]
    if (dice.chance(0.5)) return link(dice.pick(links)({ ...dice, one, some }))
    return dice.pick<() => Effect.Effect<unknown, never, TestServer>>([
      () => replaceOne(name),
      () => ask("PATCH", `${path}/${one(name)}`, patch(dice)),
      () => ask("GET", dice.chance(0.5) ? `${path}/${one(name)}` : `${path}?limit=10`)
    ])()
  })
  const end = performance.now() + seconds * 1000
  const write = Effect.whileLoop({ while: () => performance.now() < end, body: () => step, step: () => undefined })
  yield* Effect.forEach(Array.from({ length: writers }), () => write, { concurrency: "unbounded", discard: true })
})

layer(Server.layer(), { excludeTestServices: true })("concurrent deletes, updates and links", (it) => {
  it.effect(
    "concurrent deletes, updates and links leave no dangling reference and exact totals",
    (ctx) =>
      Effect.gen(function* () {
        yield* Effect.forEach(pairs, storm, { concurrency: lanes, discard: true })
        const { dangling, invariants, references, violations } = yield* Consistency.inspect
        const lost = (yield* Consistency.goneAssets).filter((uuid) => !forced.has(uuid))
        yield* Effect.promise(() =>
          report(ctx, {
            pairs: pairs.length,
            answers: counted(seen),
            "unexpected responses": wrong.length,
            [`of ${invariants} invariants broken`]: violations.length,
            [`of ${references} references dangling`]: dangling.length + lost.length
          })
        )
        assert.deepStrictEqual(wrong.slice(0, 10), [])
        assert.deepStrictEqual({ violations, dangling, lost }, { violations: [], dangling: [], lost: [] })
        assert.isAbove(references, 20)
        assert.strictEqual((yield* send("GET", "/v1/me")).status, 200)
      }),
    280_000
  )
})
