import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Result, Stream } from "effect"
import { type Format, formatOf } from "../../../src/cli/files/Format.ts"
import { locations } from "../../../src/cli/transfer/Resources.ts"
import { readRows } from "../../support/cli/Reading.ts"

const read = (format: Format, content: string | Uint8Array) =>
  readRows(
    format,
    locations,
    Stream.make(typeof content === "string" ? new TextEncoder().encode(content) : content)
  ).pipe(Stream.runCollect, Effect.provide(NodeServices.layer))
const errorOf = (format: Format, content: string | Uint8Array) =>
  Effect.map(Effect.flip(read(format, content)), ({ message }) => message)

describe("file formats", () => {
  it("the format is derived from the file name", () => {
    assert.deepStrictEqual(formatOf("A.CSV"), Option.some("csv"))
    assert.deepStrictEqual(formatOf("/x/b.jsonl"), Option.some("ndjson"))
    assert.deepStrictEqual(formatOf("/x.y/b.xlsx"), Option.some("xlsx"))
    assert.deepStrictEqual(formatOf("b.json.gz"), Option.some("json"))
    assert.isTrue(Option.isNone(formatOf("-")))
    assert.isTrue(Option.isNone(formatOf("b.xls")))
  })

  it.effect("a CSV row has its line number, also after multi-line cells and empty lines", () =>
    Effect.gen(function* () {
      const rows = yield* read(
        "csv",
        '\uFEFFname,identifier\r\n"two\r\nlines",a\r\n\r\nx,b\r\n"three\n\nlines",c\r\ny,d'
      )
      assert.deepStrictEqual(
        rows.map(({ at }) => at),
        [{ line: 2 }, { line: 5 }, { line: 6 }, { line: 9 }]
      )
      assert.deepStrictEqual(rows[0]!.record, Result.succeed({ name: "two\r\nlines", identifier: "a" }))
    })
  )

  it.effect("a CSV row with the wrong number of cells is rejected, and the rows after it are read", () =>
    Effect.gen(function* () {
      const [short, good] = yield* read("csv", "name,identifier\nonly\nx,y\n")
      assert.deepInclude(Result.getFailure(short!.record).pipe(Option.getOrThrow)[0], { code: "wrongWidth" })
      assert.deepStrictEqual(good!.record, Result.succeed({ name: "x", identifier: "y" }))
    })
  )

  it.effect("a CSV header with an unknown, duplicate or missing column is rejected", () =>
    Effect.gen(function* () {
      assert.include(
        yield* errorOf("csv", "name,identifier,adress.city\n"),
        'Unknown column "adress.city"; did you mean address.city?'
      )
      assert.include(yield* errorOf("csv", "name,identifier,name\n"), 'Column "name" appears twice')
      assert.include(yield* errorOf("csv", "identifier\n"), 'Column "name" is missing')
    })
  )

  it.effect("unknown columns are named once each, with columns of a similar name or of the same last part", () =>
    Effect.gen(function* () {
      const lines = (yield* errorOf("csv", "name,identifier,phone,Straße,adress.city,Öffnung\n")).split("\n")
      assert.deepStrictEqual(lines.slice(0, 4), [
        'Unknown column "phone"; did you mean contact.phone?',
        'Unknown column "Straße"',
        'Unknown column "adress.city"; did you mean address.city?',
        'Unknown column "Öffnung"'
      ])
      assert.match(lines[4]!, /^The columns are uuid, name, /)
      assert.match(lines[5]!, /--map.*--ignore-unknown/)
      assert.lengthOf(lines, 6)
    })
  )

  it.effect("text in another encoding than the named one is rejected", () =>
    Effect.gen(function* () {
      const latin1 = Buffer.from("name,identifier\nCafé,1\n", "latin1")
      for (const format of ["csv", "json", "ndjson"] as const)
        assert.include(yield* errorOf(format, latin1), "not UTF-8 throughout; set --encoding")
    })
  )

  it.effect("only the invalid line of an NDJSON file is rejected, and blank lines count as lines", () =>
    Effect.gen(function* () {
      const rows = yield* read("ndjson", '{"name":"a"}\n\n{"name":\n{"name":"b"}')
      assert.deepStrictEqual(
        rows.map(({ at, record }) => [at, Result.isSuccess(record)]),
        [
          [{ line: 1 }, true],
          [{ line: 3 }, false],
          [{ line: 4 }, true]
        ]
      )
      assert.strictEqual(rows[1]!.source, '{"name":')
    })
  )

  it.effect("a JSON file must be one array", () =>
    Effect.gen(function* () {
      assert.include(yield* errorOf("json", '{"name":"a"}'), "Expected one JSON array of records")
      assert.include(yield* errorOf("json", '[{"name":"a"},'), "Expected one JSON array of records")
      assert.deepStrictEqual(
        (yield* read("json", ' [ {"name":"a"} , 1 ] ')).map(({ at }) => at),
        [{ item: 1 }, { item: 2 }]
      )
    })
  )
})
