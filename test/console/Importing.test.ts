import { assert, describe, it } from "@effect/vitest"
import { derive } from "../../src/console/definition/Derive.ts"
import { guess } from "../../src/console/importing/Mapping.ts"

const locations = derive("0.0.0").resources.find(({ name }) => name === "locations")!

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
})
