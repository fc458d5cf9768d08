import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Result, Schema } from "effect"
import { type InvalidFilterError, parse } from "../../../src/domain/query/Filter.ts"
import { print } from "../../../src/domain/query/FilterSyntax.ts"
import { type Condition, operatorsOf } from "../../../src/domain/query/FilterConditions.ts"
import { type Field, fieldsOf } from "../../../src/domain/query/FilterFields.ts"
import { Location } from "../../../src/domain/locations/Location.ts"
import { property } from "../../support/Runs.ts"

const fields = fieldsOf(Location)

const codePoint = Arbitrary.map(
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 0x10f7ff }))),
  (n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800)
)
const literal = (literals: ReadonlyArray<string>) => Arbitrary.schema(Schema.Literals(literals))
const pick = <A>(values: ReadonlyArray<A>) =>
  Arbitrary.map(
    Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: values.length - 1 }))),
    (n) => values[n]!
  )
const either = <A>(first: Arbitrary.Arbitrary<A>, second: Arbitrary.Arbitrary<A>) =>
  Arbitrary.map(Arbitrary.all([first, second, Arbitrary.schema(Schema.Boolean)]), ([a, b, left]) => (left ? a : b))

/** Text that PostgreSQL can store, with many characters that have a meaning in the grammar. */
const nasty = literal([
  ",",
  ":",
  "\\",
  '"',
  '\\"',
  " ",
  "  ",
  "\t",
  "\n",
  "%",
  "_",
  "'",
  "e\u0301",
  "İ",
  "ß",
  "Σ",
  "🥐",
  "👩‍🌾",
  "a"
])
const text = Arbitrary.map(Arbitrary.array(either(nasty, codePoint), { maxLength: 20 }), (parts) =>
  parts.join("").normalize("NFC")
)

const instant = Arbitrary.map(
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: -60_000_000_000_000, maximum: 250_000_000_000_000 }))),
  (n) => new Date(n).toISOString()
)
const date = Arbitrary.map(Arbitrary.all([instant, Arbitrary.schema(Schema.Boolean)]), ([iso, day]) =>
  day ? iso.slice(0, 10) : iso
)
const values: Readonly<Record<Field["kind"], Arbitrary.Arbitrary<string | number | boolean>>> = {
  string: text,
  enum: text,
  uuid: Arbitrary.map(Arbitrary.schema(Schema.String.check(Schema.isUUID())), (uuid) => uuid.toLowerCase()),
  number: Arbitrary.map(Arbitrary.schema(Schema.Finite), (n) => (Object.is(n, -0) ? 0 : n)),
  boolean: Arbitrary.schema(Schema.Boolean),
  date,
  day: date
}

/** A value for a condition; equality with an enum requires one of its values. */
const scalarFor = ({ kind, values: allowed }: Field, operator: string) =>
  kind === "enum" && operator === "equals" ? pick(allowed) : values[kind]

const valueFor = (field: Field, operator: string): Arbitrary.Arbitrary<Condition["value"]> => {
  if (operator === "exists") return values.boolean
  if (operator === "in") return Arbitrary.array(scalarFor(field, "equals"), { minLength: 1, maxLength: 4 })
  return scalarFor(field, operator)
}

const condition: Arbitrary.Arbitrary<Condition> = Arbitrary.flatMap(pick(fields), (field) =>
  Arbitrary.flatMap(pick(operatorsOf[field.kind]), (operator) =>
    Arbitrary.map(
      Arbitrary.all([valueFor(field, operator), Arbitrary.schema(Schema.Boolean)]),
      ([value, not]): Condition => ({ field: field.path, operator, value, ...(not ? { not } : {}) })
    )
  )
)
const someConditions = Arbitrary.array(condition, { minLength: 1, maxLength: 20 })

/** Text that resembles a filter to some degree. */
const piece = literal([
  "name",
  "createdAt",
  "postalCodes",
  "coordinates.latitude",
  "adress.city",
  "equals",
  "contians",
  "gt",
  ":",
  ":",
  ":",
  ",",
  ",",
  '"',
  "\\",
  " ",
  "",
  "2026-02-30",
  "12",
  "\0",
  "\ud800",
  "__proto__",
  "constructor",
  "toString",
  "x"
])
const nearly = Arbitrary.map(Arbitrary.array(either(piece, codePoint), { maxLength: 40 }), (parts) => parts.join(""))
const invalidFilter = Arbitrary.map(
  Arbitrary.all({
    field: literal(["name", "createdAt", "coordinates.latitude", "uuid", "nmae", "wholly.other"]),
    operator: literal(["equals", "gt", "contains", "eqals", "is"]),
    value: text
  }),
  ({ field, operator, value }) => `identifier:equals:a,${field}:${operator}:"${value.replaceAll(/["\\]/g, "\\$&")}"`
)

const options = property(1000)

describe("filter properties", () => {
  it.effect.prop(
    "a printed filter is parsed back to the same conditions",
    [someConditions],
    ([conditions]) =>
      Effect.sync(() => {
        const printed = print(conditions)
        const result = parse(fields, printed)
        const most = conditions.some(({ operator }) => operator === "in") ? 6000 : 2000
        if (Array.from(printed).length > most)
          return assert.isTrue(Result.isFailure(result) && result.failure.code === "tooLong")
        assert.deepStrictEqual(Result.getOrThrow(result), conditions)
      }),
    options
  )

  it.effect.prop(
    "text that is escaped without quotes is parsed back unchanged",
    [text, pick(["equals", "contains", "startsWith", "endsWith"] as const)],
    ([value, operator]) =>
      Effect.sync(() => {
        // Spaces around an unquoted value are ignored.
        const trimmed = value.replaceAll(/^[ \t]+|[ \t]+$/g, "")
        if (trimmed === "") return
        const list = ` ( ${trimmed.replaceAll(/[,"\\|)]/g, "\\$&")} | "a" ) `
        assert.deepStrictEqual(Result.getOrThrow(parse(fields, `name:not IN:${list}`)), [
          { field: "name", operator: "in", value: [trimmed, "a"], not: true }
        ])
        const printed = `NAME : ${operator.toUpperCase()} : ${trimmed.replaceAll(/[,"\\]/g, "\\$&")}`
        assert.deepStrictEqual(Result.getOrThrow(parse(fields, printed)), [{ field: "name", operator, value: trimmed }])
      }),
    options
  )

  it.effect.prop(
    "parse never throws; accepted filters print and parse back, and errors have a valid position",
    [nearly],
    ([filter]) =>
      Effect.sync(() => {
        const result = parse(fields, filter)
        if (Result.isFailure(result)) return placed(filter, result.failure)
        assert.deepStrictEqual(Result.getOrThrow(parse(fields, print(result.success))), result.success)
      }),
    options
  )

  it.effect.prop(
    "a filter error names the condition, its index, the problem and valid alternatives",
    [invalidFilter],
    ([filter]) =>
      Effect.sync(() => {
        const result = parse(fields, filter)
        if (Result.isSuccess(result)) return
        placed(filter, result.failure)
        explains(filter, result.failure)
      }),
    options
  )
})

const placed = (filter: string, error: InvalidFilterError) => {
  assert.isTrue(filter.includes(error.condition), "the condition is part of the filter")
  assert.isTrue(error.position >= 0 && error.position <= filter.length, "the position is in the filter")
  assert.isAtLeast(error.index, 0)
  assert.isNotEmpty(error.message)
}

const explains = (filter: string, { code, condition, index, message, suggestions }: InvalidFilterError) => {
  assert.deepStrictEqual({ index, condition }, { index: 1, condition: filter.slice("identifier:equals:a,".length) })
  const [field = "", operator = ""] = condition.split(":")
  const known = fields.find(({ path }) => path === field)
  const right = {
    unknownField: [field, ...(field === "nmae" ? ["name"] : [])],
    unknownOperator: [operator, ...(known === undefined ? [] : operatorsOf[known.kind])],
    operatorNotAllowed: [operator, field, ...(known === undefined ? [] : operatorsOf[known.kind])],
    invalidValue: [
      field,
      ...(known === undefined
        ? []
        : [{ date: "YYYY-MM-DD", day: "YYYY-MM-DD", number: "number", uuid: "UUID" }[known.kind as "date"]])
    ]
  }[code as "unknownField"]
  assert.isDefined(right, code)
  for (const word of right) assert.include(message, word)
  if (code === "unknownField") assert.deepStrictEqual(suggestions, field === "nmae" ? ["name"] : [])
}
