import { assert, layer } from "@effect/vitest"
import { Effect, Predicate } from "effect"
import { Permission } from "../../../src/domain/keys/Permission.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import * as Data from "../../support/bulk/Data.ts"
import { pick, randomOf } from "../../support/Random.ts"
import { send } from "../../support/requests/Requests.ts"
import { runs } from "../../support/Runs.ts"
import * as TestServer from "../../support/TestServer.ts"

type Json = Readonly<Record<string, unknown>>

interface Change {
  readonly key: string
  readonly kind: string
  readonly changes: ReadonlyArray<{ readonly path: string; readonly after?: unknown }>
}

/** The tables whose plans are computed. */
const computed = ["locations"]

/** A value without what is empty, which records do not have. */
const pruned = (value: unknown): unknown => {
  if (!Predicate.isObject(value)) return value
  const members = Object.entries(value).map(([name, inner]) => [name, pruned(inner)] as const)
  const kept = members.filter(
    ([, inner]) =>
      !(
        inner === undefined ||
        (Array.isArray(inner) && inner.length === 0) ||
        (Predicate.isObject(inner) && Object.keys(inner).length === 0)
      )
  )
  return Object.fromEntries(kept)
}

/** A record in which the member at a path has another value. */
const having = (record: Json, [name, ...below]: ReadonlyArray<string>, value: unknown): Json => {
  const inner = record[name!]
  return {
    ...record,
    [name!]: below.length === 0 ? value : having(Predicate.isObject(inner) ? inner : {}, below, value)
  }
}

/** The members that no plan changes. */
const own = new Set(["uuid", "createdAt", "editedAt", "media", "translationLabels"])

/** The other members of all records, by key. */
const records = Effect.map(
  send("GET", "/v1/locations?limit=500"),
  ({ body }) =>
    new Map(
      (body.data as ReadonlyArray<Json>).map((record) => [
        String(record["identifier"]),
        Object.fromEntries(Object.entries(record).filter(([name]) => !own.has(name)))
      ])
    )
)

layer(TestServer.layer(), { excludeTestServices: true })("plans of locations", (it) => {
  it.effect("random files change when they are applied what their plans show, and nothing else", () =>
    Effect.gen(function* () {
      const random = randomOf(54)
      const { key: keyWith } = yield* TestServer.TestServer
      const nothing = Object.fromEntries(Data.resources.map((resource) => [resource, []])) as never
      const data = Data.make(random, { uuids: nothing, files: [] })
      const shown: Record<string, number> = {}
      // The first file has nothing to update.
      for (let run = 0; run < Math.max(2, runs(10)); run++) {
        const key = yield* keyWith(Permission.literals)
        const identifiers = Array.from({ length: 60 }, (_, number) => `x${number}`)
        const rows = Array.from({ length: 40 }, () => {
          const row = data.create("locations")
          return Predicate.isObject(row) && random() < 0.7 ? { ...row, identifier: pick(random, identifiers) } : row
        })
        const before = yield* records
        const made = yield* send("POST", "/v1/plans?resource=locations", { body: rows, key })
        assert.strictEqual(made.status, 201, made.text)
        const { uuid } = made.body.data
        const { body } = yield* send("GET", `/v1/plans/${uuid}/changes?limit=100`, { key })
        const changes = (body.data as ReadonlyArray<Change>).filter(({ kind }) => kind !== "refused")
        for (const { kind } of body.data) shown[kind] = (shown[kind] ?? 0) + 1
        const applied = yield* send("POST", `/v1/plans/${uuid}/apply`, { body: { force: true }, key })
        assert.strictEqual(applied.status, 200, applied.text)
        const expected = new Map(before)
        for (const { changes: leaves, key } of changes) {
          const record = leaves.reduce<Json>(
            (record, { after, path }) => having(record, path.split("."), after),
            before.get(key) ?? {}
          )
          expected.set(key, record)
        }
        const sorted = (all: ReadonlyMap<string, Json>) =>
          Object.fromEntries([...all].map(([key, record]) => [key, pruned(record)]))
        assert.deepStrictEqual(sorted(yield* records), sorted(expected))
      }
      assert.containsAllKeys(shown, ["create", "update", "refused"])
    })
  )

  it.effect("a table whose plans are computed has no trigger, index or constraint that a select would miss", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      for (const table of computed) {
        const missed = yield* pooled<{ readonly name: string }>`
          select tgname as name from pg_trigger
            where tgrelid = ${table}::regclass and not tgisinternal and tgtype & 2 = 2 and tgtype & 20 > 0
          union all select indexrelid::regclass::text from pg_index
            where indrelid = ${table}::regclass and indisunique
              and indexrelid::regclass::text not in (${`${table}_pkey`}::text, ${`${table}_identifier_key`}::text)
          union all select conname from pg_constraint
            where conrelid = ${table}::regclass and (contype in ('f', 'x') or (contype = 'c' and exists (
              select from pg_attribute
              where attrelid = conrelid and attnum = any (conkey)
                and (attgenerated <> '' or attname in ('created_at', 'edited_at', 'has_media', 'translation_labels')))))`
        assert.deepStrictEqual(missed, [])
      }
    })
  )
})
