import { assert, describe, it } from "@effect/vitest"
import { cardText, csv, table } from "../../../src/cli/records/Table.ts"

const records = [
  { uuid: "u1", name: "Bakkerij De Vries, Utrecht", address: { city: "Utrecht" }, open: true },
  { uuid: "u2", name: "日本 🥐", address: {}, note: "a\u001B[31mb\nc" }
]
const fields = ["uuid", "name", "address.city", "open", "note", "locale"]

describe("tables of records", () => {
  it("a table shows the fields that have a value, aligned, the uuid last", () => {
    assert.strictEqual(
      table(records, { fields, given: false, width: 120 }),
      [
        "name                        address.city  open  note       uuid",
        "Bakkerij De Vries, Utrecht  Utrecht       true             u1",
        "日本 🥐                                         a [31mb c  u2"
      ].join("\n")
    )
  })

  it("a table has only the columns that fit, and all those that are asked for", () => {
    assert.strictEqual(
      table(records, { fields, given: false, width: 45 }).split("\n")[0],
      "name                        address.city"
    )
    assert.strictEqual(
      table(records, { fields: ["uuid", "locale"], given: true, width: 5 }),
      ["uuid  locale", "u1", "u2"].join("\n")
    )
  })

  it("a table shows a text of the first translation", () => {
    const asset = { uuid: "u3", translations: [{ locale: "nl", name: "Taart" }] }
    assert.strictEqual(
      table([asset], { fields: ["translations.0.name", "uuid"], given: false, width: 80 }),
      ["translations.0.name  uuid", "Taart                u3"].join("\n")
    )
  })

  it("a card shows every value of a record on a line", () => {
    assert.strictEqual(
      cardText(records[0]!),
      [
        "uuid          u1",
        "name          Bakkerij De Vries, Utrecht",
        "address.city  Utrecht",
        "open          true"
      ].join("\n")
    )
  })

  it("CSV quotes cells and guards those that a spreadsheet would execute", () => {
    assert.strictEqual(
      csv([{ name: '=1+1, "x"', address: { city: "A\nB" } }], ["name", "address.city", "open"]),
      'name,address.city,open\n"\'=1+1, ""x""","A\nB",'
    )
  })

  it("CSV has the cells of an export: negative numbers as numbers, and elements of lists with ; between them", () => {
    const place = { coordinates: { latitude: -33.92, longitude: -1e-7 }, postalCodes: ["8001", "=8;-8"], open: true }
    const hours = { monday: [{ from: "09:00", note: "x;=1" }] }
    assert.strictEqual(
      csv([{ ...place, hours }], ["coordinates.latitude", "coordinates.longitude", "postalCodes", "open", "hours"]),
      [
        "coordinates.latitude,coordinates.longitude,postalCodes,open,hours",
        `-33.92,-1e-7,8001;'=8\\;'-8,true,"{""monday"":[{""from"":""09:00"",""note"":""x;'=1""}]}"`
      ].join("\n")
    )
  })
})
