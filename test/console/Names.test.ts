import { assert, describe, it } from "@effect/vitest"
import { derive } from "../../src/console/definition/Derive.ts"
import { en } from "../../src/console/words/en.ts"
import { namesOf } from "../../src/console/words/Names.ts"
import { eventTypes } from "../../src/domain/changes/EventType.ts"
import { nl } from "../../src/console/words/nl.ts"

const { resources } = derive("0.0.0")

describe("what the console says", () => {
  it("values of the address of a record have names of their own, those of other addresses the whole path", () => {
    const { path } = namesOf(en)
    const paths = ["address.city", "legal.address.city", "invoice.address.city", "contact.email", "invoice.email"]
    assert.deepStrictEqual(paths.map(path), [
      "City",
      "Legal: address: city",
      "Invoice: address: city",
      "Email",
      "Invoice: email"
    ])
    assert.strictEqual(namesOf(nl).path("legal.address.city"), "Legal: adres: plaats")
    assert.strictEqual(path("translations.0.name"), "Name")
    assert.strictEqual(path("address"), "Address")
  })

  it.each([
    ["English", en],
    ["Dutch", nl]
  ] as const)("no two values of a record have the same name in %s, but a text and its translations", (_, words) => {
    const { path } = namesOf(words)
    for (const { columns, imported, name } of resources) {
      for (const fields of [columns, imported]) {
        const paths = new Set(fields.map((field) => field.path))
        const names = [...paths]
          .filter((one) => !one.startsWith("translations.") || !paths.has(one.replace("translations.", "")))
          .map(path)
        assert.deepStrictEqual(
          names.filter((one, index) => names.indexOf(one) !== index),
          [],
          name
        )
      }
    }
  })

  it("each type of event is said in both languages", () => {
    const deeds = [...new Set(eventTypes.map((type) => type.slice(type.lastIndexOf(".") + 1)))].toSorted()
    for (const words of [en, nl]) assert.deepStrictEqual(Object.keys(words.deeds).toSorted(), deeds)
  })

  it("Dutch has the article of the first record of each resource", () => {
    const names = resources.map(({ name }) => namesOf(nl).one(name))
    assert.deepStrictEqual(
      names.map((name) => nl.emptyHint(name)).filter((hint) => hint.includes("het eerste")),
      ["beeldmateriaal", "product", "bericht"].map((name) => `Maak het eerste ${name}.`)
    )
    assert.strictEqual(nl.emptyImport("product"), "Maak het eerste product, of importeer een spreadsheet.")
    assert.strictEqual(nl.emptyImport("locatie"), "Maak de eerste locatie, of importeer een spreadsheet.")
  })

  it("one record is one", () => {
    assert.deepStrictEqual(
      [en, nl].flatMap(({ total }) => [total("1"), total("2")]),
      ["1 record", "2 records", "1 record", "2 records"]
    )
  })

  it("one webhook that is not delivered is one", () => {
    assert.deepStrictEqual(
      [en, nl].flatMap(({ failedWebhooks }) => [failedWebhooks("1"), failedWebhooks("2")]),
      [
        "1 webhook is not delivered",
        "2 webhooks are not delivered",
        "1 webhook wordt niet afgeleverd",
        "2 webhooks worden niet afgeleverd"
      ]
    )
  })
})
