import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlError } from "effect/sql"
import { type WalPosition, walPositionAfter } from "../../src/domain/query/WalPosition.ts"
import { OwnWrites } from "../../src/sql/connections/OwnWrites.ts"
import { Replicas } from "../../src/sql/connections/Replicas.ts"

const lost = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("lost") }) })

/** A primary whose position is asked for, and replicas that note what a read needs at least. */
const primaryWith = (position: Effect.Effect<WalPosition, SqlError.SqlError>) => {
  const needed: Array<bigint> = []
  const replicas = Layer.succeed(Replicas, {
    exist: true,
    choose: (atLeast) => {
      needed.push(atLeast)
      return undefined
    },
    position
  })
  return { needed, layer: Layer.provide(OwnWrites.layer, replicas) }
}

/** A primary whose position is lost once. */
const primary = () => {
  let asked = 0
  return primaryWith(
    Effect.suspend(() => (asked++ === 0 ? Effect.fail(lost) : Effect.succeed(walPositionAfter(BigInt(asked)))))
  )
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

it.effect(
  "a position that arrives after a later one of its key, or of keys without one of their own, is left out",
  () => {
    const positions = [20n, 10n]
    const { layer, needed } = primaryWith(Effect.sync(() => walPositionAfter(positions.shift() ?? 30n)))
    return Effect.gen(function* () {
      const writes = yield* OwnWrites
      yield* writes.note("key")
      yield* writes.note("key")
      writes.replicaFor("key", undefined)
      // More keys than have positions of their own.
      for (let key = 0; key < 10_001; key++) yield* writes.note(`key ${key}`)
      positions.push(25n)
      yield* writes.note("late")
      writes.replicaFor("late", undefined)
      assert.deepStrictEqual(needed, [20n, 30n])
    }).pipe(Effect.provide(layer))
  }
)
