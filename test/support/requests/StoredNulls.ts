import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"

/** Asserts that no column of a record has an object with a null, which answers would repeat; returns how many have one. */
export const withoutNulls = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const columns = yield* pooled<{ readonly table: string; readonly column: string }>`
    select table_name as table, column_name as column from information_schema.columns
    where data_type = 'jsonb' and table_name in ('locations', 'users', 'groups', 'assets', 'products', 'posts',
      'meta_tag_definitions', 'asset_categories')`
  assert.isAtLeast(columns.length, 15)
  let values = 0
  for (const { column, table } of columns) {
    const value = pooled(column)
    const [row] = yield* pooled<{ readonly values: number; readonly wrong: number }>`select count(*)::int as values,
      count(*) filter (where ${value} <> jsonb_strip_nulls(${value}) or ${value} = 'null')::int as wrong
      from ${pooled(table)} where ${value} is not null`
    assert.strictEqual(row!.wrong, 0, `${table}.${column}`)
    values += row!.values
  }
  return values
})
