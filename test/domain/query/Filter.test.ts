import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { ApiKey } from "../../../src/domain/keys/ApiKey.ts"
import { Timestamp, Uuid } from "../../../src/domain/schema/Fields.ts"
import { type InvalidFilterError, parse } from "../../../src/domain/query/Filter.ts"
import type { Condition } from "../../../src/domain/query/FilterConditions.ts"
import { fieldsOf } from "../../../src/domain/query/FilterFields.ts"
import { Location } from "../../../src/domain/locations/Location.ts"

/** A schema with a field of every kind. */
const Thing = Schema.Struct({
  uuid: Uuid,
  name: Schema.String,
  active: Schema.Boolean,
  status: Schema.Literals(["draft", "published", "archived"]),
  size: Schema.Int,
  ratio: Schema.optionalKey(Schema.Finite),
  tags: Schema.Array(Schema.String),
  translations: Schema.Array(Schema.Struct({ locale: Schema.String, name: Schema.String })),
  address: Schema.optionalKey(Schema.Struct({ city: Schema.optionalKey(Schema.String) })),
  other: Schema.optionalKey(Schema.Struct({ extraDna3: Schema.optionalKey(Schema.String) })),
  createdAt: Timestamp
})

const conditions = (filter: string, record: Schema.Top = Thing): ReadonlyArray<Condition> =>
  Result.getOrThrowWith(parse(fieldsOf(record), filter), (error) => new Error(error.message))

const errorOf = (filter: string, record: Schema.Top = Thing): InvalidFilterError => {
  const result = parse(fieldsOf(record), filter)
  return Result.isFailure(result) ? result.failure : assert.fail(`accepted: ${filter}`)
}

const one = (field: string, operator: Condition["operator"], value: Condition["value"]): Condition => ({
  field,
  operator,
  value
})

const id = "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"

describe("filter grammar", () => {
  const examples: ReadonlyArray<readonly [title: string, filter: string, ...expected: ReadonlyArray<Condition>]> = [
    ["only the first two colons separate", "name:equals:a:b::c", one("name", "equals", "a:b::c")],
    [
      "a timestamp keeps its colons",
      `createdAt:gt:2026-01-31T09:30:00.000Z`,
      one("createdAt", "gt", "2026-01-31T09:30:00.000Z")
    ],
    ["commas join conditions", "name:equals:a,size:gt:3", one("name", "equals", "a"), one("size", "gt", 3)],
    ["an escaped comma is text", "name:equals:Bakker\\, Utrecht", one("name", "equals", "Bakker, Utrecht")],
    ["an escaped backslash is text", "name:equals:a\\\\b", one("name", "equals", "a\\b")],
    ["an escaped quote is text", 'name:equals:\\"a\\"', one("name", "equals", '"a"')],
    ["a quoted value keeps its comma", 'name:equals:"Bakker, Utrecht"', one("name", "equals", "Bakker, Utrecht")],
    ["a quoted value has escapes", 'name:equals:"a\\"b\\\\c"', one("name", "equals", 'a"b\\c')],
    ["a quoted value keeps its spaces", 'name:equals:"  a  "', one("name", "equals", "  a  ")],
    ["a quoted value may be empty", 'name:equals:""', one("name", "equals", "")],
    [
      "a quoted value may be followed by a condition",
      'name:equals:"a,b",size:lt:2',
      one("name", "equals", "a,b"),
      one("size", "lt", 2)
    ],
    ["a quoted value may be of any kind", 'size:equals:"3"', one("size", "equals", 3)],
    [
      "spaces around the parts are ignored",
      " name : equals :  Utrecht , size : gt : 3 ",
      one("name", "equals", "Utrecht"),
      one("size", "gt", 3)
    ],
    ["spaces inside a value are kept", "name:equals:De  Vries", one("name", "equals", "De  Vries")],
    ["percent and underscore are text", "name:contains:100%_", one("name", "contains", "100%_")],
    ["text is compared in NFC", "name:equals:Cafe\u0301", one("name", "equals", "Caf\u00e9")],
    ["field and operator have no case", "ADDRESS.City:STARTSWITH:U", one("address.city", "startsWith", "U")],
    ["a path is dotted", "other.extradna3:endsWith:x", one("other.extraDna3", "endsWith", "x")],
    ["a list of text has the text operators", "tags:contains:x", one("tags", "contains", "x")],
    ["a path goes through a list", "translations.name:contains:logo", one("translations.name", "contains", "logo")],
    ["a bare day", "createdAt:lte:2026-01-31", one("createdAt", "lte", "2026-01-31")],
    ["a leap day", "createdAt:equals:2024-02-29", one("createdAt", "equals", "2024-02-29")],
    ["true", "active:equals:true", one("active", "equals", true)],
    ["false", "active:equals:false", one("active", "equals", false)],
    ["a negative decimal", "ratio:gte:-12.5", one("ratio", "gte", -12.5)],
    ["an exponent", "ratio:lt:1.5E+3", one("ratio", "lt", 1500)],
    ["a negative exponent", "ratio:equals:1e-2", one("ratio", "equals", 0.01)],
    ["a uuid in upper case", `uuid:equals:${id.toUpperCase()}`, one("uuid", "equals", id)],
    ["part of a uuid", "uuid:startsWith:0198", one("uuid", "startsWith", "0198")],
    ["a value of the enum", "status:equals:draft", one("status", "equals", "draft")],
    ["part of an enum value", "status:contains:ish", one("status", "contains", "ish")]
  ]
  for (const [title, filter, ...expected] of examples) {
    it(`${title}: ${filter}`, () => assert.deepStrictEqual(conditions(filter), expected))
  }

  it("a filter can have 20 conditions", () => {
    assert.lengthOf(conditions(Array.from({ length: 20 }, () => "name:equals:a").join(",")), 20)
  })

  it("a filter can have 2,000 characters, counted in code points", () => {
    assert.lengthOf(conditions(`name:equals:${"a".repeat(1988)}`), 1)
    assert.lengthOf(conditions(`name:equals:${"🥐".repeat(1988)}`), 1)
  })
})

describe("invalid filter conditions", () => {
  type Rejected = readonly [
    filter: string,
    code: InvalidFilterError["code"],
    position: number,
    message: ReadonlyArray<string>,
    suggestions?: ReadonlyArray<string>
  ]
  const value = (field: string, sent: string, right: string): Rejected => [
    `size:gt:1,${field}:equals:${sent}`,
    "invalidValue",
    10 + `${field}:equals:`.length,
    [field, sent.trim(), right]
  ]
  const examples: ReadonlyArray<Rejected> = [
    ["size:gt:1,nmae:equals:a", "unknownField", 10, ["nmae", "name"], ["name"]],
    ["size:gt:1, adress.city:equals:a", "unknownField", 11, ["adress.city", "address.city"], ["address.city"]],
    ["size:gt:1,zzzzzzzz:equals:a", "unknownField", 10, ["zzzzzzzz"], []],
    ["size:gt:1,address:equals:a", "unknownField", 10, ["address"]],
    ["size:gt:1,translations:equals:a", "unknownField", 10, ["translations"]],
    [
      "size:gt:1,name:equal:a",
      "unknownOperator",
      15,
      ["equal", "name", "contains", "startsWith", "endsWith"],
      ["equals"]
    ],
    [
      "size:gt:1,createdAt: gtt:2026-01-01",
      "unknownOperator",
      21,
      ["gtt", "createdAt", "gte", "lte"],
      ["gt", "gte", "lt"]
    ],
    ["size:gt:1,name:gt:a", "operatorNotAllowed", 15, ["gt", "name", "contains", "equals"]],
    ["size:gt:1,createdAt:contains:2026", "operatorNotAllowed", 20, ["contains", "createdAt", "equals", "gte"]],
    ["size:gt:1,ratio:startsWith:5", "operatorNotAllowed", 16, ["startsWith", "ratio", "lte"]],
    ["size:gt:1,active:lt:true", "operatorNotAllowed", 17, ["lt", "active", "equals"]],
    ["size:gt:1,uuid:gt:0", "operatorNotAllowed", 15, ["gt", "uuid", "contains"]],
    ["size:gt:1,status:lt:a", "operatorNotAllowed", 17, ["lt", "status", "contains"]],
    ...["abc", "0x10", "1_000", "Infinity", "NaN", "01", "+1", ".5", "5.", "1e999", "１２", "--1"].map((sent) =>
      value("ratio", sent, "number")
    ),
    ...["TRUE", "1", "yes", "null"].map((sent) => value("active", sent, "true or false")),
    ...[
      "2026-02-30",
      "2025-02-29",
      "2026-13-01",
      "2026-00-10",
      "2026-1-1",
      "20260131",
      "2026-01-31T09:30:00Z",
      "2026-01-31T24:00:00.000Z",
      "2026-02-30T00:00:00.000Z",
      "2026-01-31T09:60:00.000Z",
      "2026-01-31t09:30:00.000z",
      "2026-01-31T09:30:00.000+00:00",
      "yesterday"
    ].map((sent) => value("createdAt", sent, "YYYY-MM-DD")),
    ...["abc", `${id}0`, `{${id}}`].map((sent) => value("uuid", sent, "UUID")),
    ...["Draft", "gone"].map((sent) => value("status", sent, "draft, published, archived"))
  ]
  for (const [filter, code, position, message, suggestions] of examples) {
    it(`${filter}: ${code}`, () => {
      const error = errorOf(filter)
      assert.deepInclude(error, { code, position, index: 1, condition: filter.slice(10) })
      for (const word of message) assert.include(error.message, word)
      if (suggestions !== undefined) assert.sameMembers([...error.suggestions], [...suggestions])
    })
  }

  it.each([
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "address.__proto__",
    "address.constructor",
    "length",
    "tags.0",
    "tags.length"
  ])("%s is not a filter field", (name) => {
    assert.deepInclude(errorOf(`${name}:equals:a`), { code: "unknownField", position: 0 })
    assert.include(errorOf(`${name}:equals:a`).message, name)
  })

  it.each([
    [ApiKey, "secretHash"],
    [ApiKey, "secret_hash"],
    [ApiKey, "secret"],
    [ApiKey, "key"],
    [ApiKey, "id"],
    [Location, "search"],
    [Location, "id"],
    [Location, "postal_codes"],
    [Location, "created_at"],
    [Location, "address.country_code"]
  ] as const)("a column that is not a member cannot be filtered (%#: %s)", (record, name) => {
    assert.strictEqual(errorOf(`${name}:equals:a`, record).code, "unknownField")
  })

  it("a filter value with NUL or a lone surrogate is rejected", () => {
    for (const character of ["\0", "\ud800"])
      assert.strictEqual(errorOf(`name:equals:a${character}`).code, "invalidValue")
  })
})
