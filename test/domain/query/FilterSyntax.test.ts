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
    ["a backslash before another character in quotes", 'name:equals:"a\\b"', 0, 14]
  ]
  it.each(examples)("the position of a syntax error is reported for %s: %s", (_title, filter, index, position) => {
    const { code, message, ...error } = errorOf(filter)
    assert.deepStrictEqual({ code, index: error.index, position: error.position }, { code: "syntax", index, position })
    assert.isTrue(filter.includes(error.condition))
    assert.match(message, /field:operator:value|value|quote|escape/)
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
