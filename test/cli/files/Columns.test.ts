import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { waypost } from "../../support/cli/Command.ts"
import * as Importing from "../../support/cli/Importing.ts"

let importing: Importing.Importing
let imported: Importing.Importing["locations"]
let find: Importing.Importing["find"]

beforeAll(async () => {
  importing = await Importing.start()
  ;({ find, locations: imported } = importing)
})
afterAll(() => importing?.service[Symbol.asyncDispose]())

const dutch = (identifier: string) => `Nummer;Filiaalnaam;Plaats\n${identifier};Winkel, A;Utrecht\n`
const map = "Nummer=identifier,Filiaalnaam=name,Plaats=address.city"

describe("an import of columns with other names", () => {
  it("--map takes pairs of a name in the file and a column", async () => {
    const { code, err } = await imported(dutch("M-1"), "csv", "--map", map)
    assert.strictEqual(code, 0, err)
    assert.deepInclude(await find("M-1"), { name: "Winkel, A", address: { city: "Utrecht" } })
  })

  it("--map takes a CSV file of two columns, in which a name may have commas and equals signs", async () => {
    const pairs = importing.file('Nummer;identifier\n"Naam, = filiaal";name\n', "csv")
    const { code, err } = await imported('Nummer,"Naam, = filiaal"\nM-2,B\n', "csv", "--map", pairs)
    assert.strictEqual(code, 0, err)
    assert.strictEqual((await find("M-2")).name, "B")
  })

  it("--map takes pairs that are longer than the name of a file may be", async () => {
    const titles = Array.from({ length: 6 }, (_, index) => `${"Lange kolomnaam ".repeat(4)}${index}`)
    const paths = ["identifier", "name", "address.city", "contact.email", "contact.phone", "contact.website"]
    const pairs = titles.map((title, index) => `${title}=${paths[index]!}`).join(",")
    const { code, err } = await imported(`${titles.join(";")}\nM-5;Lang;Utrecht;;;\n`, "csv", "--map", pairs)
    assert.strictEqual(code, 0, err)
    assert.strictEqual((await find("M-5")).name, "Lang")
  })

  it("--map takes a CSV file whose first name has a comma without quotes, as Excel writes it between semicolons", async () => {
    const pairs = importing.file("Naam, filiaal;name\nNummer;identifier\n", "csv")
    const { code, err } = await imported("Nummer;Naam, filiaal\nM-6;B\n", "csv", "--map", pairs)
    assert.strictEqual(code, 0, err)
    assert.strictEqual((await find("M-6")).name, "B")
  })

  it("--map renames the members of JSON records", async () => {
    const record = { Nummer: "M-3", Filiaalnaam: "C", Plaats: "Utrecht", address: { zone: "Centrum" } }
    const { code, err } = await imported(JSON.stringify([record]), "json", "--map", map)
    assert.strictEqual(code, 0, err)
    assert.deepInclude(await find("M-3"), { name: "C", address: { city: "Utrecht", zone: "Centrum" } })
  })

  it.each(["json", "ndjson"] as const)(
    "--map keeps a value whose object is null in a %s record, and clears the others of the object",
    async (format) => {
      const identifier = `M-null-${format}`
      const old = {
        identifier,
        name: "D",
        address: { city: "Delft", zone: "Centrum" },
        legal: { address: { city: "X" } }
      }
      assert.strictEqual((await imported(JSON.stringify([old]), "json")).code, 0)
      const record = {
        Nummer: identifier,
        Filiaalnaam: "D",
        Plaats: "Utrecht",
        Zetel: null,
        address: null,
        legal: null
      }
      const text = JSON.stringify(format === "json" ? [record] : record)
      const { code, err } = await imported(text, format, "--map", `${map},Zetel=legal.address.city`)
      assert.strictEqual(code, 0, err)
      const { address, legal } = await find(identifier)
      assert.deepStrictEqual([address, legal], [{ city: "Utrecht" }, undefined])
    }
  )

  it.each([
    ["Nummer=identifier,Filiaalnaam=nam", "--map Filiaalnaam=nam: unknown column; did you mean name?"],
    ["Nummer=identifier,Filiaal=name", '--map: the file has no column "Filiaal"'],
    ["Nummer=identifier,Filiaalnaam=name,Plaats=name", 'Columns "Filiaalnaam" and "Plaats" are both name'],
    ["Nummer=identifier,Nummer=name", '--map: "Nummer" appears twice'],
    ["Nummer=identifier,name", '--map: "name" is not a name of the file and a column'],
    ["Nummer:identifier", "--map Nummer:identifier: no file has this name; pairs are written as Filiaalnaam=name"]
  ])("--map %s stops the import before the first row", async (wrong, message) => {
    const before = await importing.total("locations")
    const { code, err } = await imported(dutch("M-4"), "csv", "--map", wrong)
    assert.strictEqual(code, 1)
    assert.include(err, message)
    assert.strictEqual(await importing.total("locations"), before)
  })

  it("an unknown column stops the import with the nearest name, and --ignore-unknown passes over it", async () => {
    const content = "identifier,name,adress.city,note\nU-1,A,Utrecht,x\n"
    const { code, err } = await imported(content, "csv")
    assert.strictEqual(code, 1)
    assert.include(err, 'Unknown column "adress.city"; did you mean address.city?')
    assert.include(err, 'Unknown column "note"')
    assert.isUndefined(await find("U-1"))
    assert.strictEqual((await imported(content, "csv", "--ignore-unknown")).code, 0)
    const found = await find("U-1")
    assert.strictEqual(found.name, "A")
    assert.isUndefined(found.address)
  })

  it("an unknown member of a JSON record rejects it, and --ignore-unknown passes over it at any depth", async () => {
    const record = { identifier: "U-2", name: "A", note: "x", address: { city: "Utrecht", adres: "y" } }
    const content = JSON.stringify(record)
    const rejected = await imported(content, "ndjson")
    assert.strictEqual(rejected.code, 1)
    assert.isUndefined(await find("U-2"))
    const { code, err } = await imported(content, "ndjson", "--ignore-unknown")
    assert.strictEqual(code, 0, err)
    assert.deepInclude(await find("U-2"), { address: { city: "Utrecht" } })
  })

  it("--columns prints path, type and need of every column, without a file, a service and a key", async () => {
    const { code, out } = await waypost(["import", "locations", "--columns"])
    assert.strictEqual(code, 0)
    const rows = out.split("\n").map((line) => line.split(/ {2,}/))
    assert.deepStrictEqual(rows[0], ["column", "type"])
    for (const row of [
      ["identifier", "text", "required"],
      ["postalCodes", "list of text"],
      ["address.countryCode", "country"],
      ["contact.phone", "phone number"],
      ["coordinates.latitude", "number"]
    ]) {
      assert.deepInclude(rows, row)
    }
    assert.notInclude(out, "createdAt")
    assert.include((await waypost(["import", "products", "--columns"])).out, "default | variant")
  })

  it("without a file the import asks for one", async () => {
    const { code, err } = await waypost(["import", "locations"], importing.env)
    assert.strictEqual(code, 1)
    assert.include(err, "Pass the file to read, or - for standard input")
  })
})

describe("--default", () => {
  it("fills what rows leave out, also required columns, and may be repeated", async () => {
    const { code, err } = await imported(
      "identifier;address.countryCode;address.city\nD-1;;Gent\nD-2;NL;Ede\n",
      "csv",
      "--default",
      "name=Filiaal = nieuw",
      "--default",
      "address.countryCode=België",
      "--default",
      "postalCodes=9000;9050"
    )
    assert.strictEqual(code, 0, err)
    assert.deepInclude(await find("D-1"), {
      name: "Filiaal = nieuw",
      address: { city: "Gent", countryCode: "BE" },
      postalCodes: ["9000", "9050"]
    })
    assert.deepInclude((await find("D-2")).address, { countryCode: "NL" })
  })

  it("fills JSON records, and leaves null as it is", async () => {
    const records = [
      { identifier: "D-3", name: "A", contact: { email: null } },
      { identifier: "D-4", name: "B" }
    ]
    const { code, err } = await imported(JSON.stringify(records), "json", "--default", "contact.email=a@b.example")
    assert.strictEqual(code, 0, err)
    assert.isUndefined((await find("D-3")).contact)
    assert.strictEqual((await find("D-4")).contact.email, "a@b.example")
  })

  it.each([
    ["countryCode=NL", "--default countryCode: unknown column; did you mean address.countryCode"],
    ["name", "--default name: write column=value"],
    ["name=", "--default name=: the value is missing"]
  ])("--default %s stops the import", async (wrong, message) => {
    const { code, err } = await imported("identifier,name\nD-5,A\n", "csv", "--default", wrong)
    assert.strictEqual(code, 1)
    assert.include(err, message)
    assert.isUndefined(await find("D-5"))
  })
})
