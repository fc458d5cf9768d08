import { assert, describe, it } from "@effect/vitest"
import { closeSync, existsSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import writeWorkbook from "write-excel-file/node"
import { hashTable } from "../../../src/cli/files/Duplicates.ts"
import { start } from "../../support/cli/Command.ts"
import * as Importing from "../../support/cli/Importing.ts"

let importing: Importing.Importing

beforeAll(async () => {
  importing = await Importing.start()
})
afterAll(() => importing?.service[Symbol.asyncDispose]())

/** Corrects the rows of a file of refused rows, imports it, and returns what the import printed. */
const correct = async (path: string, format: string, wrong: string, right: string, ...flags: ReadonlyArray<string>) => {
  const text = importing.refused(path, format)
  const corrected = importing.file(text.replaceAll(wrong, right), format)
  const { code, err, out } = await importing.run("locations", corrected, ...flags)
  assert.strictEqual(code, 0, err)
  assert.isFalse(existsSync(`${corrected}.refused.${format}`))
  return out
}

describe("rows that an import rejects", () => {
  it("go to CSV with the same separator, titles and cells, which can be corrected and imported", async () => {
    const path = importing.file(
      'Nummer|name|other.extraDna1|address.countryCode\nA-1|A|"é ""|""\nb"|XX\nA-2|B||NL\n',
      "csv"
    )
    const flags = ["--map", "Nummer=identifier"]
    assert.strictEqual((await importing.run("locations", path, ...flags)).code, 1)
    assert.strictEqual(
      importing.refused(path, "csv"),
      '\uFEFFNummer|name|other.extraDna1|address.countryCode|_reasons\r\nA-1|A|"é ""|""\nb"|XX|' +
        "line 2: address.countryCode: Expected an ISO 3166-1 alpha-2 country code such as NL\r\n"
    )
    assert.include(await correct(path, "csv", "|XX|", "|BE|", ...flags), "1 created")
    assert.strictEqual((await importing.find("A-1")).other.extraDna1, 'é "|"\nb')
  })

  it("refused rows have the reasons of the last import only", async () => {
    const path = importing.file("identifier,_reasons,name\nB-1,old,\n", "csv")
    assert.strictEqual((await importing.run("locations", path)).code, 1)
    assert.strictEqual(
      importing.refused(path, "csv"),
      "\uFEFFidentifier,name,_reasons\r\nB-1,,line 2: name: Required\r\n"
    )
  })

  it.each(["json", "ndjson"])(
    "go to %s with their members and the reasons, and can be corrected and imported",
    async (format) => {
      const records = [
        { identifier: `C-${format}-1`, name: "A", address: { countryCode: "XX" } },
        { identifier: `C-${format}-2`, name: "B" },
        { identifier: `C-${format}-3`, name: "C", address: { countryCode: "XX" } }
      ]
      const text = format === "json" ? JSON.stringify(records) : records.map((one) => JSON.stringify(one)).join("\n")
      const path = importing.file(text, format)
      assert.strictEqual((await importing.run("locations", path, "--concurrency", "1")).code, 1)
      const place = format === "json" ? "item" : "line"
      const refused = importing.refused(path, format)
      const parsed = JSON.parse(format === "json" ? refused : `[${refused.trim().replaceAll("\n", ",")}]`)
      const reason = { path: "address.countryCode", code: "unknownCountry" }
      assert.lengthOf(parsed, 2)
      assert.deepInclude(parsed[0], { identifier: `C-${format}-1`, address: { countryCode: "XX" } })
      assert.deepInclude(parsed[0]._reasons[0], { [place]: 1, ...reason })
      assert.deepInclude(parsed[1]._reasons[0], { [place]: 3, ...reason })
      assert.include(await correct(path, format, '"XX"', '"NL"'), "2 created")
    }
  )

  it("of a workbook go to CSV, in which decimal commas still can be read", async () => {
    const cells = [
      ["identifier", "name", "coordinates.latitude", "coordinates.longitude"],
      ["X-1", "", "52,09", "5,12"]
    ]
    const workbook = await writeWorkbook(cells.map((row) => row.map((value) => ({ value })))).toBuffer()
    const path = importing.file(workbook, "xlsx")
    assert.strictEqual((await importing.run("locations", path)).code, 1)
    assert.include(importing.refused(path, "csv"), "X-1;;52,09;5,12;row 2: name: Required")
    assert.include(await correct(path, "csv", "X-1;;", "X-1;Winkel;"), "1 created")
    assert.strictEqual((await importing.find("X-1")).coordinates.latitude, 52.09)
  })

  it("go to the file of --refused, which cannot be the file itself", async () => {
    const path = importing.file("identifier,name\nE-1,\n", "csv")
    const refused = `${path}.mine`
    const { out } = await importing.run("locations", path, "--refused", refused)
    assert.include(out, "1 refused")
    assert.isTrue(existsSync(refused))
    assert.isFalse(existsSync(`${path}.refused.csv`))
    const { code, err } = await importing.run("locations", path, "--refused", path)
    assert.strictEqual(code, 1)
    assert.include(err, `${path} is the file that is imported`)
  })

  it("of another width than the header, or with a cell under no title, are rejected again if they are not corrected", async () => {
    const path = importing.file("identifier,name,\nF-1,A\nF-2,B,C\nF-3,D,\n", "csv")
    const first = await importing.run("locations", path)
    assert.include(first.out, "1 created, 2 refused")
    const refused = importing.refused(path, "csv")
    assert.include(refused, "The row has 2 cells and the header has 3")
    assert.include(refused, "Cell 3 is in a column without a title")
    const again = importing.file(refused, "csv")
    assert.include((await importing.run("locations", again)).out, "2 refused")
  })

  it("with fewer cells than the header have the reasons under their title, where spreadsheets leave them", async () => {
    const path = importing.file("identifier;name;address.city\nS-1;A\n", "csv")
    assert.strictEqual((await importing.run("locations", path)).code, 1)
    assert.strictEqual(
      importing.refused(path, "csv"),
      "\uFEFFidentifier;name;address.city;_reasons\r\nS-1;A;;line 2: The row has 2 cells and the header has 3;\r\n"
    )
    // A spreadsheet saves a row without the empty cell behind its last column.
    assert.include(await correct(path, "csv", ";\r\n", "\r\n"), "1 created")
    assert.notProperty(await importing.find("S-1"), "address")
  })

  it("go to no file that is read as standard input or by another of its names", async () => {
    const rows = "identifier,name\nK-1,\n"
    const path = importing.file(rows, "csv")
    const link = `${path}.link`
    linkSync(path, link)
    const named = await importing.run("locations", path, "--refused", link)
    assert.include(named.err, `${link} is the file that is imported`)

    const folder = join(importing.service.folder, "piped")
    mkdirSync(folder)
    const piped = join(folder, "stdin.refused.csv")
    writeFileSync(piped, rows)
    const input = openSync(piped, "r")
    const { code, err } = await start(["import", "locations", "-", "--format", "csv"], importing.env, input, folder)
      .result
    closeSync(input)
    assert.strictEqual(code, 1)
    assert.include(err, "stdin.refused.csv is the file that is imported")
    assert.strictEqual(readFileSync(piped, "utf8"), rows)
  })

  it("go to the folder of temporary files where the default file cannot be written", async () => {
    const path = importing.file("identifier,name\nQ-1,A\nQ-2,\n", "csv")
    mkdirSync(`${path}.refused.csv`)
    const { code, err } = await importing.run("locations", path)
    assert.strictEqual(code, 1)
    const [, named = ""] = /the reasons are in (\S+)$/m.exec(err) ?? []
    assert.strictEqual(dirname(named), tmpdir())
    assert.include(readFileSync(named, "utf8"), "Q-2,,line 3: name: Required")
    rmSync(named)
    assert.strictEqual((await importing.find("Q-1")).name, "A")
  })

  it("need a file that can be written, which is checked before the first row is sent", async () => {
    const path = importing.file("identifier,name\nJ-1,A\nJ-2,\n", "csv")
    const missing = `${path}.missing/refused.csv`
    const { code, err } = await importing.run("locations", path, "--refused", missing)
    assert.strictEqual(code, 1)
    assert.include(err, `What is refused cannot be written to ${missing}: `)
    assert.include(err, "Name another file with --refused\n")
    assert.isUndefined(await importing.find("J-1"))
  })

  it("before a failure of the whole import are named by the import, with the number of rows that it sent", async () => {
    // The third of the parts with 2,000 rows is sent when one before is done, and the end of the file is read after it.
    const city = "x".repeat(40)
    const rows = Array.from({ length: 9000 }, (_, index) => `H-${index},${city},`)
    const path = importing.file(`identifier,address.city,name\n${rows.join("\n")}\nH-X,a"b,c\n`, "csv")
    const { code, err } = await importing.run("locations", path)
    assert.strictEqual(code, 1)
    const [ended, why] = err.split("\n")
    assert.match(ended!, /^Failed after ([\d,]+) (?:of [\d,]+ )?rows \(\1 refused\)\. /)
    assert.include(
      ended,
      `The refused rows so far are in ${path}.refused.csv. Run the same command again when the cause of the failure is removed`
    )
    assert.match(why!, /^Line 9002: /)
    assert.include(importing.refused(path, "csv"), "name: Required")
    const dry = await importing.run("locations", path, "--dry-run")
    assert.match(dry.err, /^Failed after [\d,]+ [^.]*\. This was a dry run; nothing was written\n/)
  })

  it("of a line that is no JSON are kept", async () => {
    const path = importing.file('{"identifier":\n', "ndjson")
    assert.strictEqual((await importing.run("locations", path)).code, 1)
    assert.deepInclude(JSON.parse(importing.refused(path, "ndjson")), { _source: '{"identifier":' })
  })
})

describe("two rows with one key", () => {
  it("the later one is rejected with both row numbers, and the first is imported, whatever the concurrency", async () => {
    const rows = ["G-1,First", "G-2,Other", '" G-1 ",Second', "G-1,Third", "g-1,Lower case"]
    const path = importing.file(["identifier,name", ...rows].join("\n"), "csv")
    const { code, out } = await importing.run("locations", path)
    assert.strictEqual(code, 1)
    assert.include(out, "3 created, 2 refused")
    assert.strictEqual((await importing.find("G-1")).name, "First")
    const refused = importing.refused(path, "csv")
    assert.include(refused, 'line 4: identifier: line 4 has the same identifier as line 2: ""G-1""')
    assert.include(refused, 'line 5: identifier: line 5 has the same identifier as line 2: ""G-1""')
  })

  it("user and group names that differ in case are one key", async () => {
    const path = importing.file("name\nNoord\nNOORD\n", "csv")
    const { out } = await importing.run("groups", path)
    assert.include(out, "1 created, 1 refused")
  })

  it("two rows with one key are found among a million keys", () => {
    const table = hashTable()
    const number = (index: number) => table.add(`F${index}`, index)
    const isNew = Array.from({ length: 1_000_000 }, (_, index) => number(index + 1) === undefined)
    assert.isTrue(isNew.every(Boolean))
    for (let index = 1; index <= 1_000_000; index += 9973) assert.strictEqual(table.add(`F${index}`, 5), index)
    assert.isFalse(table.has("F0"))
  })
})
