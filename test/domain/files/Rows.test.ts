import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Result, Schema, Stream } from "effect"
import { Location, LocationCreate } from "../../../src/domain/locations/Location.ts"
import { exportFormats, write } from "../../../src/cli/transfer/ExportFormat.ts"
import type { Resource } from "../../../src/cli/transfer/Resource.ts"
import {
  columnsOf,
  columnsReadBack,
  covers,
  fromCells,
  guard,
  missingFrom,
  toCells,
  unguard
} from "../../../src/domain/files/Rows.ts"
import { readRows } from "../../support/cli/Reading.ts"
import { property } from "../../support/Runs.ts"

/** Text with edge cases of spreadsheets, CSV and JSON, and arbitrary text. */
const text = Arbitrary.map(
  Arbitrary.all({
    start: Arbitrary.schema(
      Schema.Literals(["", "=", "+", "-", "@", "\t", "\r", "'", "''=", "'a", '"', ",", "\n", " "])
    ),
    middle: Arbitrary.schema(Schema.String),
    inner: Arbitrary.schema(Schema.Literals(["", "", ";=", ";-1;'+", ";''@", "\n=", "\r-", ";\r=", ";';'\t", ";;"])),
    end: Arbitrary.schema(Schema.Literals(["", "\r\n", '"', '",', " ", "é🥐"]))
  }),
  ({ end, inner, middle, start }) => (start + middle + inner + end).toWellFormed() || "x"
)
const element = Arbitrary.map(text, (value) => value.trim() || "x")
/** Text as a record has it: the service accepts none of spaces only. */
const value = Arbitrary.map(text, (value) => (value.trim() === "" ? "x" : value))

/** A cell of which a part is executed in a spreadsheet whose files have `,` or `;` between cells. */
const formula = /(?:^|[;\r\n])[=+\-@\t\r]/
const number = Arbitrary.map(Arbitrary.schema(Schema.Finite), (value) => (Object.is(value, -0) ? 0 : value))

/** Every kind of member that a record in a file can have. */
const Record = Schema.Struct({
  key: Schema.String,
  flag: Schema.optionalKey(Schema.Boolean),
  tags: Schema.Array(Schema.String),
  place: Schema.optionalKey(
    Schema.Struct({
      city: Schema.optionalKey(Schema.String),
      deep: Schema.optionalKey(Schema.Struct({ latitude: Schema.optionalKey(Schema.Finite) }))
    })
  )
})
const resource = { name: "records", record: Record, create: Record } as unknown as Resource

const record = Arbitrary.map(
  Arbitrary.all({
    key: value,
    city: value,
    latitude: number,
    tags: Arbitrary.array(element, { maxLength: 3 }),
    flag: Arbitrary.schema(Schema.Boolean),
    absent: Arbitrary.schema(Schema.Literals(["none", "flag", "city", "place"]))
  }),
  ({ absent, city, flag, key, latitude, tags }) => ({
    key,
    tags,
    ...(absent === "flag" ? {} : { flag }),
    ...(absent === "place" ? {} : { place: { ...(absent === "city" ? {} : { city }), deep: { latitude } } })
  })
)

/** In a file of cells an absent list and an empty one are equal. */
const complete = (value: unknown): unknown => ({ tags: [], ...(value as object) })

describe("rows", () => {
  it.effect.prop(
    "a guarded text is not a formula, nor are its parts behind a semicolon or a line break, and unguarding restores it",
    [text],
    ([value]) =>
      Effect.sync(() => {
        assert.strictEqual(unguard(guard(value)), value)
        assert.notMatch(guard(value), formula)
      }),
    property()
  )

  it.effect.prop(
    "a record survives the round trip through cells",
    [record],
    ([value]) =>
      Effect.sync(() => {
        const columns = columnsOf(Record)
        const cells = toCells(columns, value)
        assert.deepStrictEqual(complete(fromCells(columns, cells)), value)
        assert.isTrue(Object.entries(cells).every(([path, cell]) => path.endsWith("latitude") || !formula.test(cell)))
      }),
    property()
  )

  for (const format of exportFormats) {
    it.effect.prop(
      `records written as ${format} are read back, in chunks of any size`,
      [Arbitrary.array(record, { maxLength: 4 }), Arbitrary.schema(Schema.Literals([1, 2, 3, 7, 64]))],
      ([records, size]) =>
        Effect.gen(function* () {
          const bytes = yield* Stream.fromIterable<unknown>(records).pipe(
            write(format, resource),
            Stream.encodeText,
            Stream.runCollect
          )
          const whole = Buffer.concat(bytes)
          const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
            whole.subarray(index * size, (index + 1) * size)
          )
          const rows = yield* Stream.runCollect(readRows(format, resource, Stream.fromIterable(pieces)))
          assert.deepStrictEqual(
            rows.map((row) => complete(Result.getOrThrow(row.record))),
            records
          )
        }).pipe(Effect.provide(NodeServices.layer)),
      property()
    )
  }

  it("elements of a list may contain the separator", () => {
    const columns = columnsOf(Location)
    const postalCodes = ["a;b", "c\\", "\\;", "d"]
    const cells = toCells(columns, { postalCodes })
    assert.strictEqual(cells["postalCodes"], "a\\;b;c\\\\;\\\\\\;;d")
    assert.deepStrictEqual(fromCells(columns, cells), { postalCodes })
    assert.deepStrictEqual(fromCells(columns, { postalCodes: " 3511 AB ; ;C\\D" }), {
      postalCodes: [" 3511 AB ", "C\\D"]
    })
  })

  it.each(["", " ", "\u00a0\t", ";", " ; ; "])("the cell %j is that of a list that does not change", (cell) => {
    assert.deepStrictEqual(fromCells(columnsOf(Location), { name: "A", postalCodes: cell }), { name: "A" })
  })

  it("cells of spaces are those of members that do not change", () => {
    const cells = { name: " ", "address.city": "\u00a0", "coordinates.latitude": "\t" }
    assert.deepStrictEqual(fromCells(columnsOf(Location), cells), {})
  })

  it("text and lists with a formula behind a semicolon get an apostrophe before it, which is taken back", () => {
    assert.strictEqual(guard("x;=cmd|'/C calc'!A0;y"), "x;'=cmd|'/C calc'!A0;y")
    assert.strictEqual(unguard("x;=1;'a;b"), "x;=1;'a;b")
    const columns = columnsOf(Location)
    const record = { name: "x;=1\n+2", postalCodes: ["-1", "-2", "a;=3", "'@b"] }
    const cells = toCells(columns, record)
    assert.deepInclude(cells, { name: "x;'=1\n'+2", postalCodes: "'-1;'-2;a\\;'=3;''@b" })
    assert.deepStrictEqual(fromCells(columns, cells), record)
  })

  it("the exported columns of a location are those that can be imported", () => {
    const columns = columnsOf(Location).map(({ path }) => path)
    const exported = columnsReadBack({ record: Location, create: LocationCreate }).map(({ path }) => path)
    assert.deepStrictEqual(
      columns.filter((path) => !path.startsWith("media.")),
      exported
    )
    assert.includeMembers(exported, ["name", "postalCodes", "legal.address.city", "coordinates.latitude", "createdAt"])
  })

  it("cells cannot hold a list of records, which is an error only if the list is required", () => {
    const list = Schema.Array(Schema.Struct({ locale: Schema.String }))
    assert.deepStrictEqual(missingFrom(Schema.Struct({ key: Schema.String, list })), ["list"])
    assert.deepStrictEqual(missingFrom(Schema.Struct({ key: Schema.String, list: Schema.optionalKey(list) })), [])
    assert.deepStrictEqual(missingFrom(LocationCreate), [])
  })

  it("a record covers a patch when it already has the patched values", () => {
    const location = { name: "A", address: { city: "Ede" }, postalCodes: ["1", "2"] }
    assert.isTrue(covers(location, { name: "A", address: { city: "Ede", zone: null }, locale: null, contact: {} }))
    assert.isFalse(covers(location, { address: { city: null } }))
    assert.isFalse(covers(location, { postalCodes: ["2", "1"] }))
    assert.isFalse(covers(location, { contact: { email: "a@b.nl" } }))
  })
})
