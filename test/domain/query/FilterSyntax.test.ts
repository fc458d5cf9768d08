import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { type InvalidFilterError, parse } from "../../../src/domain/query/Filter.ts"
import { fieldsOf } from "../../../src/domain/query/FilterFields.ts"
import { split } from "../../../src/domain/query/FilterSyntax.ts"
import { Location } from "../../../src/domain/locations/Location.ts"

const errorOf = (filter: string): InvalidFilterError => {
  const result = parse(fieldsOf(Location), filter)
  return Result.isFailure(result) ? result.failure : assert.fail(`accepted: ${filter}`)
}

describe("malformed filters", () => {
  const examples: ReadonlyArray<readonly [title: string, filter: string, index: number, position: number]> = [
    ["an empty filter", "", 0, 0],
    ["only spaces", "   ", 0, 0],
    ["an empty last condition", "name:equals:a,", 1, 14],
    ["an empty first condition", ",name:equals:a", 0, 0],
    ["an empty middle condition", "name:equals:a,,name:equals:b", 1, 14],
    ["no colon", "name", 0, 0],
    ["one colon", "name:equals", 0, 0],
    ["one colon before the comma", "identifier:equals:b,name:equals,name:equals:b", 1, 20],
    ["no field", ":equals:a", 0, 0],
    ["no operator", "name::a", 0, 5],
    ["an empty value", "name:equals:", 0, 12],
    ["a value of spaces", "name:equals:  ,identifier:equals:b", 0, 14],
    ["a quote that is not closed", 'name:equals:"a', 0, 12],
    ["text after the closing quote", 'name:equals:"a"b', 0, 15],
    ["a space after the closing quote", 'name:equals:"a" ', 0, 15],
    ["a quote inside an unquoted value", 'name:equals:a"b', 0, 13],
    ["a backslash before another character", "name:equals:a\\b", 0, 13],
    ["a backslash at the end", "name:equals:a\\", 0, 13],
    ["a backslash before another character in quotes", 'name:equals:"a\\b"', 0, 14],
    ["in without parentheses", "name:in:a|b", 0, 8],
    ["an empty list", "name:in:()", 0, 9],
    ["an empty value in a list", "name:in:(a||b)", 0, 11],
    ["an empty last value in a list", "name:in:(a| )", 0, 12],
    ["a list that is not closed", "name:in:(a|b", 0, 12],
    ["a comma in an unquoted value of a list", "name:in:(a,b)", 0, 10],
    ["a quote inside an unquoted value of a list", 'name:in:(a"b)', 0, 10],
    ["a backslash before another character in a list", "name:not in:(a\\b)", 0, 14],
    ["text after a quoted value of a list", 'name:in:("a"b)', 0, 12],
    ["text after a list", "name:in:(a)b", 0, 11]
  ]
  it.each(examples)("the position of a syntax error is reported for %s: %s", (_title, filter, index, position) => {
    const { code, message, ...error } = errorOf(filter)
    assert.deepStrictEqual({ code, index: error.index, position: error.position }, { code: "syntax", index, position })
    assert.isTrue(filter.includes(error.condition))
    assert.match(message, /field:operator:value|value|quote|escape/)
  })

  it("a position counts characters, of which some take two code units", () => {
    const before = 'name:equals:"🥐🥖",'
    const start = Array.from(before).length
    for (const [filter, code, position] of [
      ["name:equals:🥐\\b", "syntax", 13],
      [`${before}name`, "syntax", start],
      [`${before}nome:equals:a`, "unknownField", start],
      [`${before}name:like:a`, "unknownOperator", start + 5],
      [`${before}coordinates.latitude:equals:a`, "invalidValue", start + 28],
      [`${before}status:in:(open|🥐)`, "invalidValue", start + 16]
    ] as const) {
      assert.deepInclude(errorOf(filter), { code, position }, filter)
    }
    const many = errorOf(Array.from({ length: 21 }, () => "name:equals:🥐").join(","))
    assert.deepInclude(many, { code: "tooManyConditions", position: 280 })
  })

  it("a filter with too many conditions or characters is rejected", () => {
    const many = errorOf(Array.from({ length: 21 }, () => "name:equals:a").join(","))
    assert.deepInclude(many, { code: "tooManyConditions", index: 20, position: 280, condition: "name:equals:a" })
    assert.match(many.message, /20/)
    const long = errorOf(`name:equals:${"a".repeat(1989)}`)
    assert.deepInclude(long, { code: "tooLong", position: 2000 })
    assert.match(long.message, /2000/)
    assert.isTrue(long.condition.startsWith("name:equals:a"))
  })
})

describe("lists, existence and negation", () => {
  const fields = fieldsOf(Location)
  const conditionOf = (filter: string) => Result.getOrThrow(parse(fields, filter))[0]!

  it("in takes values in parentheses, quoted or escaped, with spaces around them", () => {
    assert.deepStrictEqual(conditionOf('address.city:in:(Utrecht|"Den Bosch, centrum"| Zeist )'), {
      field: "address.city",
      operator: "in",
      value: ["Utrecht", "Den Bosch, centrum", "Zeist"]
    })
    assert.deepStrictEqual(conditionOf(String.raw`name:in:(a\|b|c\)|d\,e|"(f|g)"|h(i)`).value, [
      "a|b",
      "c)",
      "d,e",
      "(f|g)",
      "h(i"
    ])
    assert.deepStrictEqual(conditionOf("coordinates.latitude:in:(1|2.5)").value, [1, 2.5])
  })

  it("not negates every operator, in any case of letters", () => {
    assert.deepStrictEqual(conditionOf("address.city:not equals:Utrecht"), {
      field: "address.city",
      operator: "equals",
      value: "Utrecht",
      not: true
    })
    assert.deepInclude(conditionOf("name: NOT\tstartsWith :a"), { operator: "startsWith", not: true })
    assert.deepInclude(conditionOf("name:not in:(a)"), { operator: "in", value: ["a"], not: true })
    assert.deepInclude(errorOf("name:not is:a"), { code: "unknownOperator", position: 5 })
    assert.deepInclude(errorOf("name:not not equals:a"), { code: "unknownOperator" })
    assert.deepInclude(errorOf("name:not gt:a"), { code: "operatorNotAllowed" })
  })

  it("exists is asked of fields, objects and lists, and takes true or false", () => {
    assert.deepStrictEqual(conditionOf("coordinates:exists:true"), {
      field: "coordinates",
      operator: "exists",
      value: true
    })
    assert.deepStrictEqual(conditionOf("MEDIA.Logo:not exists:false"), {
      field: "media.logo",
      operator: "exists",
      value: false,
      not: true
    })
    assert.deepInclude(errorOf("name:exists:yes"), { code: "invalidValue", position: 12 })
  })

  it("exists of an unknown field suggests the nearest objects and lists", () => {
    for (const [sent, field] of [
      ["addres", "address"],
      ["coordinats", "coordinates"],
      ["openingHour", "openingHours"],
      ["media.lgo", "media.logo"]
    ] as const) {
      const error = errorOf(`${sent}:exists:true`)
      assert.deepInclude(error, { code: "unknownField", position: 0, suggestions: [field] })
      assert.include(error.message, `did you mean ${field}?`)
    }
    assert.deepInclude(errorOf("addres:equals:x"), { code: "unknownField", suggestions: [] })
  })

  it("the error for another operator on an object or a list of objects names exists", () => {
    for (const filter of [
      "openingHours:contains:x",
      "ADDRESS: not equals:x",
      "contact:in:(a|b)",
      "coordinates:equals:1"
    ]) {
      const error = errorOf(filter)
      assert.deepInclude(error, { code: "unknownField", position: 0, suggestions: [] }, filter)
      assert.match(error.message, /^"\w+" has members and no value of its own; filter by one of them, or use exists$/)
    }
  })

  it("an invalid value of a list is reported at its place, and a list has at most 100 values", () => {
    assert.deepInclude(errorOf("coordinates.latitude:in:(1| x)"), { code: "invalidValue", position: 28 })
    assert.match(errorOf("uuid:in:(a)").message, /whole UUID/)
    const many = (count: number) => `name:in:(${Array.from({ length: count }, (_, index) => index).join("|")})`
    assert.lengthOf(conditionOf(many(100)).value as ReadonlyArray<unknown>, 100)
    const error = errorOf(many(101))
    assert.deepInclude(error, { code: "invalidValue", position: many(100).length })
    assert.match(error.message, /at most 100 values; this list has 101/)
  })

  it("a filter with a list has up to 6,000 characters", () => {
    const long = (length: number) => `name:in:(${"a".repeat(length - 10)})`
    assert.strictEqual(String(conditionOf(long(6000)).value).length, 5990)
    assert.deepInclude(errorOf(long(6001)), { code: "tooLong", position: 6000 })
  })
})

describe("conditions of a filter", () => {
  it("split returns where each condition and its parts start", () => {
    const pieces = Result.getOrThrow(split(' name : equals : "a,b", size:gt: 3'))
    assert.deepStrictEqual(
      pieces.map(({ field, operator, start, operatorStart, value, valueStart }) => ({
        field,
        operator,
        value,
        start,
        operatorStart,
        valueStart
      })),
      [
        { field: "name", operator: "equals", value: "a,b", start: 1, operatorStart: 8, valueStart: 17 },
        { field: "size", operator: "gt", value: "3", start: 24, operatorStart: 29, valueStart: 33 }
      ]
    )
  })

  it("the excerpt of a long filter ends at a character boundary", () => {
    for (let length = 0; length < 200; length++) {
      const { condition } = errorOf(`name:equals:${"a".repeat(length)}${"🥐".repeat(2000)}`)
      assert.isTrue(condition.isWellFormed(), `after ${length} characters`)
    }
  })

  it("a filter error has the whole condition, including a quoted comma", () => {
    const { condition, position } = errorOf('identifier:equals:b,name:equals:"a,b"c,name:equals:d')
    assert.deepStrictEqual({ condition, position }, { condition: 'name:equals:"a,b"c', position: 37 })
  })
})
