import { assert, describe, it } from "@effect/vitest"
import { missing, missingLines, parseShown, replaceIn } from "./Shown.ts"

const shownUuid = "01a20363-be13-7918-8da6-b63f74b2ba0a"
const printedUuid = "01b20363-be13-7918-8da6-b63f74b2ba0b"

const compare = (shown: string, printed: unknown, replacements = new Map<string, string>()) =>
  missing(parseShown(shown), printed, replacements)

describe("Shown JSON", () => {
  it("shown JSON may leave out members and elements where it has …", () => {
    assert.deepStrictEqual(
      compare('{ "a": 1, "list": [{ "b": 2, … }, …], … }', { a: 1, c: 3, list: [{ b: 2, d: 4 }, 5] }),
      []
    )
  })

  it.each([
    ["a member that is not printed", '{ "a": 1, "b": 2 }', { a: 1 }],
    ["another value", '{ "a": 1 }', { a: 2 }],
    ["another text", '{ "a": "x" }', { a: "y" }],
    ["another type", '{ "a": [1] }', { a: 1 }],
    ["fewer elements than printed, without …", '{ "a": [1] }', { a: [1, 2] }],
    ["more elements than printed", '{ "a": [1, 2, …] }', { a: [1] }],
    ["a uuid where another text is printed", `{ "a": "${shownUuid}" }`, { a: "none" }]
  ])("shown JSON has a problem with %s", (_, shown, printed) => {
    assert.lengthOf(compare(shown, printed), 1)
  })

  it("refers with a uuid to the printed one, there and in later commands", () => {
    const replacements = new Map<string, string>()
    assert.deepStrictEqual(compare(`{ "uuid": "${shownUuid}" }`, { uuid: printedUuid }, replacements), [])
    assert.strictEqual(replaceIn(`curl /${shownUuid}`, replacements), `curl /${printedUuid}`)
    assert.lengthOf(compare(`{ "uuid": "${shownUuid}" }`, { uuid: shownUuid }, replacements), 1)
  })
})

describe("Shown lines", () => {
  const lines = (shown: string, printed: string) => missingLines(shown, printed, new Map())

  it("shown lines may differ in times and sizes, and leave out lines", () => {
    assert.deepStrictEqual(
      lines("2 created (2 rows in 0.4 s, 11 rows/s)\nend", "a\n2 created (2 rows in 12.0 s, 1 rows/s)\nb\nend\n"),
      []
    )
  })

  it.each([
    ["a line that is not printed", "x", "y\n"],
    ["another number", "2 created", "3 created\n"],
    ["another order", "a\nb", "b\na\n"]
  ])("shown lines have a problem with %s", (_, shown, printed) => {
    assert.lengthOf(lines(shown, printed), 1)
  })
})
