import { assert, describe, it } from "@effect/vitest"
import { derive } from "../../src/console/definition/Derive.ts"
import { guess, ndjsonOf } from "../../src/console/importing/Mapping.ts"
import { read } from "../../src/console/importing/Spreadsheet.ts"

const locations = derive("0.0.0").resources.find(({ name }) => name === "locations")!

const sheetOf = (content: string | Uint8Array<ArrayBuffer>) => read(new File([content], "winkels.csv"))

describe("spreadsheets in the console", () => {
  it("a title means the value of the record itself, and none of several others", () => {
    const meant = (title: string) => guess(locations, [title])[0]
    assert.strictEqual(meant("Email"), "contact.email")
    assert.strictEqual(meant("Naam"), "name")
    assert.strictEqual(meant("Plaats"), "address.city")
    assert.strictEqual(meant("Invoice email"), "invoice.email")
    assert.strictEqual(meant("Latitude"), "coordinates.latitude")
    assert.strictEqual(meant("Anything"), undefined)
    const imported = locations.imported.filter(({ path }) => path !== "address.city")
    assert.deepStrictEqual(guess({ ...locations, imported }, ["City"]), [undefined])
  })

  it("the second of two columns with one title is ignored", () => {
    assert.deepStrictEqual(guess(locations, ["Email", "E-mail"]), ["contact.email", undefined])
  })

  it("rows have the numbers that spreadsheets show, also below rows without content", async () => {
    const sheet = await sheetOf("\nidentifier;name\n\nA;Een\n;\nB;Twee\n")
    const records = ndjsonOf(locations, sheet, guess(locations, sheet.titles))
    assert.deepStrictEqual(
      records
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
      [
        { identifier: "A", name: "Een", _row: 4 },
        { identifier: "B", name: "Twee", _row: 6 }
      ]
    )
  })

  it("a line that declares the separator is not the titles", async () => {
    const { rows, titles } = await sheetOf("sep=;\nidentifier;name\nA;Een\n")
    assert.deepStrictEqual(titles, ["identifier", "name"])
    assert.deepStrictEqual(rows, [{ number: 2, cells: ["A", "Een"] }])
  })

  it("the Unicode text of a spreadsheet is read, with and without the mark of its encoding", async () => {
    for (const mark of ["\uFEFF", ""]) {
      const utf16 = Buffer.from(`${mark}identifier\tname\r\nA\tCaf\u00E9\r\n`, "utf16le")
      for (const bytes of [utf16, Buffer.from(utf16).swap16()]) {
        const { rows, titles } = await sheetOf(new Uint8Array(bytes))
        assert.deepStrictEqual(titles, ["identifier", "name"])
        assert.deepStrictEqual(rows, [{ number: 2, cells: ["A", "Caf\u00E9"] }])
      }
    }
  })

  it("a file that is neither a workbook nor text cannot be read as a spreadsheet", async () => {
    const xls = new Uint8Array(1024)
    xls.set([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])
    const outcome = await sheetOf(xls).then(
      () => "read",
      () => "rejected"
    )
    assert.strictEqual(outcome, "rejected")
  })
})
