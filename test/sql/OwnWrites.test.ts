import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlError } from "effect/sql"
import { walPositionAfter } from "../../src/domain/query/WalPosition.ts"
import { OwnWrites } from "../../src/sql/connections/OwnWrites.ts"
import { Replicas } from "../../src/sql/connections/Replicas.ts"

const lost = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("lost") }) })

/** A primary whose position is lost once, and replicas that note what a read needs at least. */
const primary = () => {
  const needed: Array<bigint> = []
  let asked = 0
  const replicas = Layer.succeed(Replicas, {
    exist: true,
    choose: (atLeast) => {
      needed.push(atLeast)
      return undefined
    },
    position: Effect.suspend(() =>
      asked++ === 0 ? Effect.fail(lost) : Effect.succeed(walPositionAfter(BigInt(asked)))
    )
  })
  return { needed, layer: Layer.provide(OwnWrites.layer, replicas) }
}

it.effect("no replica answers a key whose last position was lost, also after 10,000 other keys wrote", () => {
  const { layer, needed } = primary()
  return Effect.gen(function* () {
    const writes = yield* OwnWrites
    assert.isUndefined(yield* writes.note("lost"))
    for (let key = 0; key < 10_001; key++) yield* writes.note(`key ${key}`)
    for (const key of ["lost", "key 0", "unseen"]) writes.replicaFor(key, undefined)
    const [beyond, folded, floor] = needed
    assert.isAbove(Number(beyond), 2 ** 63)
    // What the first keys wrote is folded into what all others need.
    assert.deepStrictEqual([folded, floor], [10_000n, 10_000n])
    yield* writes.note("lost")
    writes.replicaFor("lost", undefined)
    assert.strictEqual(needed.at(-1), 10_003n)
  }).pipe(Effect.provide(layer))
})
