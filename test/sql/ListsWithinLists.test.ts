import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { type Condition, operatorsOf } from "../../src/domain/query/FilterConditions.ts"
import { type Field, fieldsOf } from "../../src/domain/query/FilterFields.ts"
import { Timestamp, Uuid } from "../../src/domain/schema/Fields.ts"
import { CalendarDay } from "../../src/domain/schema/Time.ts"
import { columnsOf } from "../../src/sql/Columns.ts"
import { conditionSql } from "../../src/sql/Conditions.ts"
import { Sql } from "../../src/sql/Sql.ts"
import { type Answered, matches, valuesAt } from "../support/filters/FilterOracle.ts"
import * as FilterSamples from "../support/filters/FilterSamples.ts"
import * as Postgres from "../support/Postgres.ts"
import { settings } from "../support/TestServer.ts"

const members = {
  text: Schema.optionalKey(Schema.String),
  id: Uuid,
  state: Schema.Literals(["draft", "ready"]),
  count: Schema.Finite,
  on: Schema.Boolean,
  at: Timestamp,
  day: Schema.optionalKey(CalendarDay)
}

/** Members of every kind in a list, in a list within it, in one within an object of that, and lists of scalars. */
const Nested = Schema.Struct({
  ...members,
  tags: Schema.Array(Schema.String),
  numbers: Schema.Array(Schema.Finite),
  deep: Schema.optionalKey(
    Schema.Struct({ inner: Schema.Array(Schema.Struct({ ...members, times: Schema.Array(Timestamp) })) })
  )
})
const Sample = Schema.Struct({
  uuid: Uuid,
  items: Schema.Array(Nested),
  box: Schema.Struct({ items: Schema.Array(Nested) })
})

const { below, chance, instant, maybe, pick, text } = FilterSamples.make(20_261_213)

const uuid = () => `0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1${100 + below(40)}`
const list = <A>(make: () => A) => Array.from({ length: below(4) }, make)
const member = () => ({
  text: maybe(text),
  id: uuid(),
  state: pick(["draft", "ready"]),
  count: pick([0, 1, 1.5, -3]),
  on: chance(0.5),
  at: instant(),
  day: maybe(() => instant().slice(0, 10))
})
const nested = () => ({
  ...member(),
  tags: list(text),
  numbers: list(() => below(5)),
  deep: maybe(() => ({ inner: list(() => ({ ...member(), times: list(instant) })) }))
})
const records: ReadonlyArray<Answered> = JSON.parse(
  JSON.stringify(
    Array.from({ length: 60 }, (_, index) => ({
      uuid: `0198d9e4-7d0c-7b1e-8b54-9c5d2f6a2${100 + index}`,
      items: list(nested),
      box: { items: list(nested) }
    }))
  )
)

const columns = columnsOf(Sample)

/** Texts that could be mistaken for the brackets, commas and quotes between the texts of a list, and absent values. */
const edges: Readonly<Record<Field["kind"], ReadonlyArray<string>>> = {
  string: ["", ",", '"', '", "', "[", "\\", "%", "_", "nowhere"],
  enum: ["draft"],
  uuid: ["0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"],
  number: ["0", "-0", "1e300"],
  date: ["2024-02-29", "9999-12-31"],
  day: ["2024-02-29", "9999-12-31"],
  boolean: ["true", "false"]
}

const typed = (kind: Field["kind"], operator: string, value: string): Condition["value"] => {
  if (operator === "exists") return value === "true"
  const one = kind === "number" ? Number(value) : kind === "boolean" ? value === "true" : value.normalize("NFC")
  return operator === "in" ? [one, one] : one
}

layer(Postgres.sql.pipe(Layer.provide(settings())), { excludeTestServices: true })(
  "Conditions on lists within lists",
  (it) => {
    it.effect("hold if any element of any element does, for every kind, operator and depth", () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        yield* pooled`create table samples (uuid uuid, items jsonb, box jsonb)`
        yield* pooled`insert into samples select (r->>'uuid')::uuid, r->'items', r->'box'
        from jsonb_array_elements(${JSON.stringify(records)}::jsonb) r`
        let selective = 0
        for (const field of fieldsOf(Sample).filter(({ lists }) => lists.length > 0)) {
          const column = columns.find(({ member }) => member === field.segments[0])!
          const found = records.flatMap((record) => valuesAt(record, field.segments)).map(String)
          for (const operator of operatorsOf[field.kind]) {
            const values = [...Array.from({ length: 4 }, () => pick(found)), ...edges[field.kind]]
            for (const value of operator === "exists" ? ["true", "false"] : values) {
              const not = chance(0.2)
              const sought = operator === "contains" ? value.slice(0, 5) : value
              const condition = conditionSql(column, field, {
                field: field.path,
                operator,
                value: typed(field.kind, operator, sought),
                not
              })
              const rows = yield* pooled<{ readonly uuid: string }>`select uuid from samples t where ${condition}`
              const expected = records.filter((record) =>
                matches(record, [{ field: field.path, kind: field.kind, operator, value: sought, not }])
              )
              if (expected.length > 0 && expected.length < records.length) selective++
              assert.sameMembers(
                rows.map((row) => row.uuid),
                expected.map((record) => record.uuid),
                `${field.path}:${operator}:${sought}`
              )
            }
          }
        }
        assert.isAbove(selective, 500)
      })
    )
  }
)
