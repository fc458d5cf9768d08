import { assert, describe, it } from "@effect/vitest"
import iconv from "iconv-lite"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll } from "vitest"
import writeWorkbook from "write-excel-file/node"
import { start, waypost } from "../../support/cli/Command.ts"
import * as Importing from "../../support/cli/Importing.ts"

let importing: Importing.Importing
let imported: Importing.Importing["locations"]
let find: Importing.Importing["find"]

beforeAll(async () => {
  importing = await Importing.start()
  ;({ find, locations: imported } = importing)
})
afterAll(() => importing?.service[Symbol.asyncDispose]())

const lines = (delimiter: string, rows: ReadonlyArray<ReadonlyArray<string>>, end = "\n") =>
  rows.map((cells) => cells.join(delimiter) + end).join("")

describe("an import of what spreadsheets write", () => {
  it.each([
    ["a comma", ","],
    ["a semicolon", ";"],
    ["a tab", "\t"],
    ["a vertical bar", "|"]
  ])("detects %s between cells, and quotes protect the others", async (name, delimiter) => {
    const identifier = name.replaceAll(" ", "-")
    const quoted = '"a,b;c|d\te ""f"""'
    const { code, err, out } = await imported(
      lines(delimiter, [
        ["identifier", "name", "other.extraDna1"],
        [identifier, "Name", quoted]
      ]),
      "csv"
    )
    assert.strictEqual(code, 0, err)
    assert.include(out, "1 created")
    assert.strictEqual((await find(identifier)).other.extraDna1, 'a,b;c|d\te "f"')
  })

  it("--delimiter sets the separator, also one that is not detected", async () => {
    const { code, err } = await imported("identifier~name\nD-1~Tilde; with a semicolon\n", "csv", "--delimiter", "~")
    assert.strictEqual(code, 0, err)
    assert.strictEqual((await find("D-1")).name, "Tilde; with a semicolon")
    const wrong = await imported("identifier,name\n", "csv", "--delimiter", ";;")
    assert.strictEqual(wrong.code, 1)
    assert.include(wrong.err, "--delimiter: expected one character, or tab")
  })

  it("a line `sep=;` before the header sets the separator and is not a row", async () => {
    const { code, err, out } = await imported('"sep=|"\nidentifier|name\nS-1|A,b\n', "csv")
    assert.strictEqual(code, 0, err)
    assert.include(out, "1 created")
    assert.strictEqual((await find("S-1")).name, "A,b")
  })

  it.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["CR", "\r"]
  ])("lines end with %s", async (name, end) => {
    const { out } = await imported(
      lines(
        ",",
        [
          ["identifier", "name"],
          [`E-${name}-1`, '"two\nlines"'],
          [`E-${name}-2`, ""]
        ],
        end
      ),
      "csv"
    )
    assert.include(out, "2 refused")
    const { code } = await imported(
      lines(
        ",",
        [
          ["identifier", "name"],
          [`E-${name}`, "A"]
        ],
        end
      ),
      "csv"
    )
    assert.strictEqual(code, 0)
    assert.strictEqual((await find(`E-${name}`)).name, "A")
  })

  it.each(["utf-8", "utf-8 with a mark", "utf-16le", "utf-16be", "utf-16le with a mark", "utf-16be with a mark"])(
    "%s is detected",
    async (name) => {
      const [encoding = ""] = name.split(" ")
      const identifier = name.replaceAll(" ", "_")
      const text = lines(";", [
        ["identifier", "name"],
        [identifier, "Café ’t Hoekje, € 1 🥐 Σ"]
      ])
      const content = iconv.encode(text, encoding, { addBOM: name.endsWith("mark") })
      const { code, err } = await imported(content, "csv")
      assert.strictEqual(code, 0, err)
      assert.strictEqual((await find(identifier)).name, "Café ’t Hoekje, € 1 🥐 Σ")
    }
  )

  it("Windows-1252 is detected, with its euro sign and quotes, wherever in the file its first such letter is", async () => {
    // É’ is valid UTF-8 by chance; only the rest of the file shows that it is none.
    const rows = [
      ["identifier", "name"],
      ["W-1", "CAFÉ’S „Ü”"],
      ...Array.from({ length: 30 }, (_, i) => [`W-x${i}`, "A"])
    ]
    const { code, err, out } = await imported(
      iconv.encode(lines(";", [...rows, ["W-2", "’t Hoekje – € 1"]]), "windows-1252"),
      "csv"
    )
    assert.strictEqual(code, 0, err)
    assert.include(out, 'as Windows-1252, cells separated by ";"')
    assert.strictEqual((await find("W-1")).name, "CAFÉ’S „Ü”")
    assert.strictEqual((await find("W-2")).name, "’t Hoekje – € 1")
  })

  it("--encoding sets the encoding, of JSON as well, and bytes that it does not have stop the import", async () => {
    const mac = iconv.encode('[{"identifier":"M-1","name":"Café"}]', "macintosh")
    assert.strictEqual((await imported(mac, "json", "--encoding", "macintosh")).code, 0)
    assert.strictEqual((await find("M-1")).name, "Café")
    const wrong = await imported(Buffer.from([0x6e, 0x81, 0xff]), "csv")
    assert.include(wrong.err, "The file is not Windows-1252 throughout; set --encoding")
    const unknown = await imported("", "csv", "--encoding", "klingon")
    assert.include(unknown.err, "--encoding klingon: unknown encoding")
  })

  it("decimal commas are read in number columns where the separator is not a comma, and rejected where it is", async () => {
    const { code, err } = await imported(
      'identifier;name;coordinates.latitude;coordinates.longitude\nN-1;1,5;-52,0907374;"5,12"\nN-2;A;52.5;5\n',
      "csv"
    )
    assert.strictEqual(code, 0, err)
    assert.deepInclude(await find("N-1"), { name: "1,5", coordinates: { latitude: -52.0907374, longitude: 5.12 } })
    assert.deepInclude((await find("N-2")).coordinates, { latitude: 52.5 })
    const rejected = await imported(
      'identifier,name,coordinates.latitude,coordinates.longitude\nN-3,A,"52,09",5\n',
      "csv"
    )
    assert.include(rejected.out, "1 refused")
  })

  it("an .xlsx file is read from its first sheet, or from the one that --sheet names", async () => {
    const sheet = (identifier: string) => [
      [
        { value: "identifier" },
        { value: "name" },
        { value: "coordinates.latitude" },
        { value: "coordinates.longitude" }
      ],
      [null, null, null, null],
      [{ value: identifier }, { value: 1001, type: Number }, { value: 52.09, type: Number }, { value: "5,12" }]
    ]
    const workbook = await writeWorkbook([
      { sheet: "Filialen", data: sheet("X-1") },
      { sheet: "Oud", data: sheet("X-2") }
    ]).toBuffer()
    const { code, err, out } = await imported(workbook, "xlsx")
    assert.strictEqual(code, 0, err)
    assert.include(out, "1 created")
    assert.deepInclude(await find("X-1"), { name: "1001", coordinates: { latitude: 52.09, longitude: 5.12 } })
    assert.strictEqual((await imported(workbook, "xlsx", "--sheet", "Oud")).code, 0)
    assert.strictEqual((await find("X-2")).name, "1001")
    const missing = await imported(workbook, "xlsx", "--sheet", "Filiale")
    assert.include(missing.err, 'The workbook has no sheet "Filiale"; did you mean Filialen?')
    const damaged = await imported("no workbook", "xlsx")
    assert.strictEqual(damaged.code, 1)
    assert.include(damaged.err, "The file is not an .xlsx workbook")
  })

  it("dates in an .xlsx file are read as UTC, with the minute that they show", async () => {
    const titles = ["type", "identifier", "name", "visibleFrom"].map((value) => ({ value }))
    const row = (hour: number) => [
      ...["default", `XD-${hour}`, "A"].map((value) => ({ value })),
      { value: new Date(Date.UTC(2026, 0, 1, hour, 20)), type: Date, format: "yyyy-mm-dd hh:mm" }
    ]
    const hours = Array.from({ length: 24 }, (_, hour) => hour)
    const workbook = await writeWorkbook([titles, ...hours.map(row)]).toBuffer()
    const { code, err } = await importing.run("products", importing.file(workbook, "xlsx"))
    assert.strictEqual(code, 0, err)
    const path = "/v1/products?filter=identifier:startsWith:XD-&sortBy=createdAt&sortOrder=asc&limit=50"
    const { body } = await importing.service.call("GET", path)
    assert.sameMembers(
      body.data.map(({ visibleFrom }: { readonly visibleFrom: string }) => visibleFrom),
      hours.map((hour) => `2026-01-01T${String(hour).padStart(2, "0")}:20:00.000Z`)
    )
  })

  it("a number in an .xlsx file is read as the workbook stores it, without the zeros that its format shows", async () => {
    const titles = ["identifier", "name", "postalCodes"].map((value) => ({ value }))
    const cells = [{ value: "XN-1" }, { value: "A" }, { value: 1067, type: Number, format: "00000" }]
    const workbook = await writeWorkbook([titles, cells]).toBuffer()
    const { code, err } = await imported(workbook, "xlsx")
    assert.strictEqual(code, 0, err)
    assert.deepStrictEqual((await importing.find("XN-1")).postalCodes, ["1067"])
  })

  it("a number that is no date, in a cell with the format of one, is an issue of its row where a column is read", async () => {
    const titles = ["identifier", "name", "Remark"].map((value) => ({ value }))
    const noDate = { value: 8711234567890, type: Number, format: "yyyy-mm-dd" }
    const workbook = await writeWorkbook([
      titles,
      [{ value: "XI-1" }, { value: "A" }, noDate],
      [{ value: "XI-2" }, noDate, { value: "A" }]
    ]).toBuffer()
    const path = importing.file(workbook, "xlsx")
    const { code, out } = await importing.run("locations", path, "--ignore-unknown")
    assert.strictEqual(code, 1)
    assert.include(out, "1 created, 1 refused")
    assert.include(importing.refused(path, "csv"), "row 3: name: Expected text without control characters")
    assert.strictEqual((await find("XI-1")).name, "A")
  })

  it.each(["csv", "json", "ndjson", "xlsx"])(
    "%s is read compressed with gzip, from a file and from standard input",
    async (format) => {
      const record = (identifier: string) => ({ identifier, name: "Zip" })
      const content = async (identifier: string) => {
        if (format === "csv") return `identifier;name\n${identifier};Zip\n`
        if (format === "json") return JSON.stringify([record(identifier)])
        if (format === "ndjson") return `${JSON.stringify(record(identifier))}\n`
        const cells = [
          ["identifier", "name"],
          [identifier, "Zip"]
        ]
        return writeWorkbook(cells.map((row) => row.map((value) => ({ value })))).toBuffer()
      }
      const inFile = await imported(gzipSync(await content(`GZ-${format}`)), `${format}.gz`)
      assert.strictEqual(inFile.code, 0, inFile.err)
      assert.strictEqual((await find(`GZ-${format}`)).name, "Zip")
      const args = ["import", "locations", "-", "--format", format]
      // The pipe of a process has the same bytes in every format, compressed or not.
      const zipped = gzipSync(await content(`GP-${format}`))
      const piped =
        format === "csv" ? await start(args, importing.env, zipped).result : await waypost(args, importing.env, zipped)
      assert.strictEqual(piped.code, 0, piped.err)
      const plain = await waypost(args, importing.env, await content(`P-${format}`))
      assert.strictEqual(plain.code, 0, plain.err)
      assert.strictEqual((await find(`P-${format}`)).name, "Zip")
    }
  )

  it("gzip data that ends too early stops the import", async () => {
    const content = gzipSync("identifier,name\nT-1,A\n")
    const { code, err } = await imported(content.subarray(0, -6), "csv.gz")
    assert.strictEqual(code, 1)
    assert.include(err, "The gzip data is damaged or incomplete")
  })
})
