import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import * as Importing from "../../support/cli/Importing.ts"

let importing: Importing.Importing
let imported: Importing.Importing["locations"]
let find: Importing.Importing["find"]

beforeAll(async () => {
  importing = await Importing.start()
  ;({ find, locations: imported } = importing)
})
afterAll(() => importing?.service[Symbol.asyncDispose]())

describe("cells without content in an import", () => {
  it("of spaces or separators leave the members of a group unchanged", async () => {
    await imported("identifier;name\nE-1;A\nE-2;B\n", "csv")
    const groups = (rows: string) => importing.run("groups", importing.file(rows, "csv"))
    await groups("name,locations\nKept,E-1;E-2\n")
    for (const cell of ["", "  ", ";", " ; "]) {
      const { code, out } = await groups(`name,locations,users\nKept,${cell},${cell}\n`)
      assert.deepStrictEqual([code, out.split(" (")[0]], [0, "groups: 1 unchanged"], JSON.stringify(cell))
    }
    const { body } = await importing.service.call("GET", "/v1/groups?filter=name:equals:Kept")
    assert.strictEqual(body.data[0].locationCount, 2)
  })
})

describe("names of countries in an import", () => {
  it.each([
    ["Duitsland", "DE"],
    ["Germany", "DE"],
    ["Allemagne", "DE"],
    ["NEDERLAND", "NL"],
    ["Belgie", "BE"],
    ["Côte d'Ivoire", "CI"],
    ["UK", "GB"],
    ["nl", "NL"]
  ])("%s becomes %s", async (name, code) => {
    const identifier = `C-${code}-${name.length}`
    const result = await imported(`identifier;name;address.countryCode\n${identifier};${name};${name}\n`, "csv")
    assert.strictEqual(result.code, 0, result.err)
    assert.deepInclude(await find(identifier), { name, address: { countryCode: code } })
  })

  it("what is no name of one country rejects the row", async () => {
    for (const name of ["Utopia", "XX", "Kongo"]) {
      const { code, out } = await imported(`identifier;name;address.countryCode\nC-x;A;${name}\n`, "csv", "--dry-run")
      assert.strictEqual(code, 1)
      assert.include(out, "address.countryCode: Expected an ISO 3166-1 alpha-2 country code")
    }
  })
})

const header = "identifier;name;address.countryCode;contact.phone"
const phoneOf = async (identifier: string) => (await find(identifier)).contact.phone

describe("phone numbers in an import", () => {
  it("in national form, or with 00, become international with the country of the row", async () => {
    const rows = ["P-1;A;NL;030 123 45 67", "P-2;A;België;02/123.45.67", "P-3;A;NL;0032 2 123 45 67"]
    const { code, err } = await imported([header, ...rows].join("\n"), "csv")
    assert.strictEqual(code, 0, err)
    assert.deepStrictEqual(await Promise.all(["P-1", "P-2", "P-3"].map(phoneOf)), [
      "+31 30 123 4567",
      "+32 2 123 45 67",
      "+32 2 123 45 67"
    ])
  })

  it("national phone numbers become international with the default country, in JSON as well and for users", async () => {
    const record = { identifier: "P-4", name: "A", contact: { phone: "030 1234567" } }
    await imported(JSON.stringify([record]), "json", "--default", "address.countryCode=NL")
    assert.strictEqual(await phoneOf("P-4"), "+31 30 123 4567")
    const users = importing.file("username,email,phone\nanna,anna@x.example,030 1234567\n", "csv")
    const { code, err } = await importing.run("users", users, "--default", "countryCode=NL")
    assert.strictEqual(code, 0, err)
    const { body } = await importing.service.call("GET", "/v1/users?filter=username:equals:anna")
    assert.strictEqual(body.data[0].phone, "+31 30 123 4567")
  })

  it("that are international already stay as they are typed", async () => {
    const { code } = await imported(`${header}\nP-5;A;DE;+31 (0)30-1234567\nP-6;A;;+31 30 123\n`, "csv")
    assert.strictEqual(code, 0)
    assert.deepStrictEqual(await Promise.all(["P-5", "P-6"].map(phoneOf)), ["+31 (0)30-1234567", "+31 30 123"])
  })

  it("that cannot be read, or are national without any country, are an issue of their row in addition to its others", async () => {
    const rows = [
      "P-7;A;NL;bel ons",
      "P-8;;;030 123 45 67",
      "P-9;A;NL;030-1234567 / 06-12345678",
      "P-10;A;MX;0612345678",
      "P-11;A;;+999 1234567"
    ]
    const path = importing.file([header, ...rows].join("\n"), "csv")
    const { code, out } = await importing.run("locations", path)
    assert.strictEqual(code, 1)
    assert.include(out, "5 refused")
    const refused = importing.refused(path, "csv")
    for (const reason of [
      'line 2: contact.phone: Expected a phone number of NL, which ""bel ons"" is not',
      "line 3: contact.phone: The phone number is in national form",
      "or give the row its address.countryCode; name: Required",
      "line 4: contact.phone: Expected a phone number of NL",
      "line 5: contact.phone: Expected a phone number of MX",
      "line 6: contact.phone: Expected a phone number, which"
    ]) {
      assert.include(refused, reason)
    }
  })
})
