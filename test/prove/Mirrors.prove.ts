import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Ref } from "effect"
import { listed, Mirror, sealAll } from "../support/changes/Mirror.ts"
import * as RandomWrites from "../support/changes/RandomWrites.ts"
import { report } from "../support/proofs/Figures.ts"
import { randomOf } from "../support/Random.ts"
import * as TestServer from "../support/TestServer.ts"

const seed = Number(process.env["MIRROR_SEED"] ?? 20_261_122)
const writers = 8
const writes = Number(process.env["MIRROR_WRITES"] ?? 20_000)

/** The differences between a mirror and the list. */
const differences = (mirror: Mirror, list: ReadonlyMap<string, unknown>) =>
  [...new Set([...mirror.records.keys(), ...list.keys()])].flatMap((uuid) => {
    const [is, should] = [mirror.records.get(uuid), list.get(uuid)].map((record) => JSON.stringify(record))
    return is === should ? [] : [`${mirror.resource} ${uuid}: ${is} instead of ${should}`]
  })

layer(TestServer.layer(), { excludeTestServices: true })("mirrors", (it) => {
  it.effect(
    "equal the lists after random writes by every path, and transactions that stay open",
    (ctx) =>
      Effect.gen(function* () {
        const { key } = yield* TestServer.TestServer
        const known = RandomWrites.nothing()
        const { create, kinds } = RandomWrites.make(known, randomOf(seed))
        for (const kind of kinds) for (let count = 0; count < 5; count++) yield* create(kind)
        const posts = yield* key(["read:posts"])
        const mirrors = [
          ...kinds.map((kind) => new Mirror(kind, { limit: 20 })),
          ...kinds.map((kind) => new Mirror(kind, { limit: 500 })),
          new Mirror("posts", { key: posts, limit: 3 })
        ]
        const left = yield* Ref.make(writes)
        const pages = yield* Ref.make(0)
        const writer = (number: number) => {
          const { next } = RandomWrites.make(known, randomOf(seed + number))
          const turn = Effect.flatMap(
            Ref.getAndUpdate(left, (count) => count - 1),
            (count) => (count > 0 ? Effect.as(next, true) : Effect.succeed(false))
          )
          return Effect.repeat(turn, { while: (more) => more })
        }
        const reader = yield* Effect.forkChild(
          Effect.forever(
            Effect.forEach(mirrors, (mirror) =>
              Effect.andThen(
                mirror.step,
                Ref.update(pages, (count) => count + 1)
              )
            )
          )
        )
        yield* Effect.forEach(Array.from({ length: writers }), (_, number) => writer(number + 1), {
          concurrency: "unbounded"
        })
        yield* Fiber.interrupt(reader)
        // The schedule may still publish a post.
        yield* sealAll
        let found: ReadonlyArray<string> = []
        let records = 0
        for (let attempt = 0; attempt < 20; attempt++) {
          records = 0
          found = []
          for (const mirror of mirrors) {
            const list = yield* listed(mirror.resource, mirror.options.key)
            yield* sealAll
            yield* mirror.toEnd
            found = [...found, ...differences(mirror, list)]
            records += list.size
          }
          if (found.length === 0) break
        }
        yield* Effect.promise(() =>
          report(ctx, {
            writes,
            accepted: known.accepted,
            ...known.rare,
            writers,
            mirrors: mirrors.length,
            "pages between writes": Effect.runSync(Ref.get(pages)),
            "records compared": records,
            differences: found.length,
            seed: String(seed)
          })
        )
        assert.deepStrictEqual(found.slice(0, 5), [])
        assert.isAbove(known.accepted, writes / 2)
        assert.isTrue(Object.values(known.rare).every((count) => count > writes / 500))
      }),
    1_200_000
  )
})
