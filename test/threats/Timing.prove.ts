import { assert, layer } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import * as Permission from "../../src/domain/keys/Permission.ts"
import { Sql } from "../../src/sql/Sql.ts"
import * as Services from "../../src/app/layers/Services.ts"
import { ApiKeys } from "../../src/services/ApiKeys.ts"
import { keyOf } from "../support/requests/Requests.ts"
import { report } from "../support/proofs/Figures.ts"
import * as Postgres from "../support/Postgres.ts"
import { publicUrl, settings } from "../support/TestServer.ts"
import { cut, random, welch } from "./Timing.ts"

const samples = 5000

/** Without a socket, whose noise would hide timing differences. */
const service = Services.layer.pipe(
  Layer.provide([publicUrl, NodeServices.layer]),
  Layer.provideMerge(Postgres.sql),
  Layer.provideMerge(settings())
)

const next = random(20_261_121)
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const text = (length: number) => Array.from({ length }, () => digits[Math.floor(next() * digits.length)]!).join("")
// The first digit keeps the number below 256 bits.
const wrongSecret = () => `0${text(42)}`

/** The time to reject a key, in nanoseconds. */
const timeOf = (keys: ApiKeys["Service"], key: string) =>
  Effect.suspend(() => {
    const began = process.hrtime.bigint()
    return Effect.map(Effect.flip(keys.authenticate(key)), ({ reason }) => {
      assert.strictEqual(reason, "unknown")
      return Number(process.hrtime.bigint() - began)
    })
  })

/** Times both kinds alternately in random order, so that disturbances affect both. */
const compare = Effect.fnUntraced(function* (known: () => string, unknown: () => string) {
  const keys = yield* ApiKeys
  const times = { known: [] as Array<number>, unknown: [] as Array<number> }
  const makers = { known, unknown }
  const rounds = samples + 500
  for (let round = 0; round < rounds; round++) {
    const order = next() < 0.5 ? (["known", "unknown"] as const) : (["unknown", "known"] as const)
    for (const kind of order) {
      const nanoseconds = yield* timeOf(keys, keyOf(makers[kind](), wrongSecret()))
      // Skip the warm-up, before the code is compiled.
      if (round >= 500) times[kind].push(nanoseconds)
    }
  }
  const kept = cut(times.known, times.unknown)
  return {
    samples: times.known.length,
    all: welch(times.known, times.unknown),
    kept: welch(kept.first, kept.second),
    difference: kept.difference
  }
})

type Compared = Effect.Success<ReturnType<typeof compare>>

const figuresOf = (name: string, { all, difference, kept, samples }: Compared) => ({
  [`${name} samples each`]: samples,
  [`${name} Welch t`]: kept.toFixed(2),
  [`${name} t with outliers`]: all.toFixed(2),
  [`${name} difference of medians ns`]: difference.toFixed(0)
})

layer(service, { excludeTestServices: true, timeout: "120 seconds" })("timing of rejected keys", (it) => {
  it.effect("rejecting a wrong secret and an unknown id takes the same time when the id is cached", (ctx) =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { prefix } = yield* keys.createUnchecked({ name: "Known", permissions: Permission.all })
      const [id, unknownId] = [prefix.slice("wp_".length), text(22)]
      const compared = yield* compare(
        () => id,
        () => unknownId
      )
      yield* Effect.promise(() => report(ctx, figuresOf("cached:", compared)))
      assert.isBelow(Math.abs(compared.kept), 4.5)
      assert.isBelow(Math.abs(compared.all), 4.5)
    })
  )

  it.effect("rejecting a wrong secret and an unknown id takes the same time when the id is looked up", (ctx) =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const count = samples + 500
      const ids = Array.from({ length: count }, () => text(22))
      yield* pooled.unsafe(
        `insert into api_keys (uuid, id, prefix, secret_hash, name, permissions)
          select gen_random_uuid(), id, 'wp_' || id, sha256(id::bytea), 'Known', $2::text[] from unnest($1::text[]) as id`,
        [ids, Permission.all]
      )
      yield* pooled.unsafe("analyze api_keys")
      let asked = 0
      const compared = yield* compare(
        () => ids[asked++]!,
        () => text(22)
      )
      yield* Effect.promise(() => report(ctx, figuresOf("looked up:", compared)))
      assert.isBelow(Math.abs(compared.kept), 4.5)
      assert.isBelow(Math.abs(compared.all), 4.5)
    })
  )
})
