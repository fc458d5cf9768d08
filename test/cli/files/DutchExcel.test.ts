import { assert, describe, it } from "@effect/vitest"
import * as Franchise from "../../support/cli/Franchise.ts"
import * as Importing from "../../support/cli/Importing.ts"

const count = (value: number) => value.toLocaleString("en")

describe("the branches of a franchise, as a Dutch Excel saves them", () => {
  it("the branches of a Dutch Excel file are imported, changed by a later file and never deleted or overwritten by a repeated number", async () => {
    const importing = await Importing.start()
    await using _ = importing.service
    const { accepted, changed, gone, map, total } = Franchise
    const first = importing.file(Franchise.first, "csv")
    const created = `${count(accepted.length)} created, ${count(total - accepted.length)} refused`
    const dry = await importing.run("locations", first, "--map", map, "--dry-run")
    assert.include(dry.out, created)
    assert.strictEqual(await importing.total("locations"), 0)
    const { code, out } = await importing.run("locations", first, "--map", map)
    assert.strictEqual(code, 1)
    assert.include(out, created)
    for (const { city, country, latitude, name, number, phone } of accepted.slice(0, 5)) {
      const found = await importing.find(number)
      const codes: Readonly<Record<string, string>> = { Nederland: "NL", België: "BE", Duitsland: "DE" }
      assert.deepInclude(found, { name, address: { city, countryCode: codes[country] } })
      assert.strictEqual(found.coordinates.latitude, latitude)
      assert.strictEqual(found.contact.phone.replaceAll(/\D/g, "").slice(2), phone.replaceAll(/\D/g, "").slice(1))
    }
    const again = await importing.run("locations", first, "--map", map)
    assert.include(again.out, `${count(accepted.length)} unchanged, ${count(total - accepted.length)} refused`)

    const second = importing.file(Franchise.second, "csv")
    const summary = `${count(changed)} updated, ${count(accepted.length - gone - changed)} unchanged`
    const preview = await importing.run("locations", second, "--map", map, "--dry-run")
    assert.strictEqual(preview.code, 0, preview.err)
    assert.include(preview.out, summary)
    const later = await importing.run("locations", second, "--map", map)
    assert.strictEqual(later.code, 0, later.err)
    assert.include(later.out, summary)
    assert.strictEqual(await importing.total("locations"), accepted.length)
  })
})
