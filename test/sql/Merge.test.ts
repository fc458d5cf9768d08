import { assert, layer } from "@effect/vitest"
import { Arbitrary, Effect, Layer, Schema } from "effect"
import { prune } from "../../src/sql/RecordValues.ts"
import { Sql } from "../../src/sql/Sql.ts"
import * as Postgres from "../support/Postgres.ts"
import { settings } from "../support/TestServer.ts"
import { property } from "../support/Runs.ts"

type Json = null | string | number | boolean | ReadonlyArray<Json> | JsonObject
type JsonObject = { readonly [member: string]: Json }

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** RFC 7396, except that an empty object is unset. */
const merged = (current: Json | undefined, patch: Json): Json | undefined => {
  if (!isObject(patch)) return patch ?? undefined
  const before = isObject(current) ? current : {}
  const members = [...new Set([...Object.keys(before), ...Object.keys(patch)])].flatMap(
    (name): ReadonlyArray<[string, Json]> => {
      const change = patch[name]
      const value = change === undefined ? before[name] : merged(before[name], change)
      return value === undefined ? [] : [[name, value]]
    }
  )
  return members.length === 0 ? undefined : Object.fromEntries(members)
}

const scalar: Arbitrary.Arbitrary<Json> = Arbitrary.map(
  Arbitrary.schema(Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])),
  // Only values that JSON and PostgreSQL support: no negative zero, NUL or lone surrogate.
  (value) => (typeof value === "string" ? value.replaceAll("\0", "").toWellFormed() : Object.is(value, -0) ? 0 : value)
)
const list = Arbitrary.array(scalar, { maxLength: 3 })
const one = <A>(...choices: ReadonlyArray<Arbitrary.Arbitrary<A>>): Arbitrary.Arbitrary<A> =>
  Arbitrary.flatMap(
    Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: choices.length - 1 }))),
    (index) => choices[index]!
  )
const nothing: Arbitrary.Arbitrary<Json | undefined> = Arbitrary.Constant<Json | undefined>(undefined)
const nil: Arbitrary.Arbitrary<Json | undefined> = Arbitrary.Constant<Json | undefined>(null)

/** An object whose members have fixed types, as in a record: scalars, a list, and nested objects. */
const objectOf = (
  depth: number,
  absent: ReadonlyArray<Arbitrary.Arbitrary<Json | undefined>>
): Arbitrary.Arbitrary<JsonObject> => {
  const member = (value: Arbitrary.Arbitrary<Json | undefined>) => one(...absent, value, value)
  const nested = depth === 0 ? nothing : member(objectOf(depth - 1, absent))
  return Arbitrary.map(
    Arbitrary.all({
      city: member(scalar),
      "extraDna 1": member(scalar),
      list: member(list),
      address: nested,
      legal: nested
    }),
    (members) =>
      Object.fromEntries(Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined))
  )
}
const stored = objectOf(2, [nothing])
const patches = objectOf(2, [nothing, nil])

layer(Postgres.sql.pipe(Layer.provideMerge(settings())))("merge patches", (it) => {
  const merge = Effect.fnUntraced(function* (current: unknown, patch: JsonObject) {
    const { pooled } = yield* Sql
    const document = current === undefined ? null : JSON.stringify(current)
    const [row] = yield* pooled<{ readonly result: Json }>`
      select waypost_merge(${document}::jsonb, ${JSON.stringify(patch)}::jsonb) as result`
    return row!.result ?? undefined
  })

  it.effect.prop(
    "a patch is applied to a stored object as in RFC 7396, and empty objects are unset",
    [stored, patches],
    ([current, patch]) =>
      Effect.gen(function* () {
        const before = prune(current) as Json | undefined
        assert.deepStrictEqual(yield* merge(before, patch), merged(before, patch))
      }),
    property(300)
  )

  it.effect.prop(
    "a new object equals a patch of an absent object",
    [patches],
    ([patch]) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(prune(patch), merged(undefined, patch))
        assert.deepStrictEqual(yield* merge(undefined, patch), merged(undefined, patch))
      }),
    property(100)
  )

  it.effect("an empty patch at any depth changes nothing", () =>
    Effect.gen(function* () {
      const current = { city: "a", address: { city: "b", legal: { city: "c" } } }
      for (const patch of [{}, { address: {} }, { address: { legal: {} } }])
        assert.deepStrictEqual(yield* merge(current, patch), current)
    })
  )

  it.effect("clearing the last member of an object unsets the object and its empty ancestors", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* merge({ city: "a", address: { legal: { city: "c" } } }, { address: { legal: { city: null } } }),
        { city: "a" }
      )
      assert.isUndefined(yield* merge({ address: { legal: { city: "c" } } }, { address: { legal: { city: null } } }))
      assert.isUndefined(yield* merge({ city: "a" }, { city: null, address: null }))
    })
  )

  it.effect("a patch replaces lists completely, also with an empty one", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* merge({ list: ["a", "b"] }, { list: ["c"] }), { list: ["c"] })
      assert.deepStrictEqual(yield* merge({ list: ["a", "b"] }, { list: [] }), { list: [] })
    })
  )
})
