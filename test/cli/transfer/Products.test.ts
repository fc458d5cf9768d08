import { assert, describe, it } from "@effect/vitest"
import { Struct } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { waypost } from "../../support/cli/Command.ts"
import * as Served from "../../support/cli/Served.ts"
import { parent, poster, variants } from "./ProductRows.ts"

let service: Served.Served
let env: Record<string, string>

const file = (name: string, rows: ReadonlyArray<unknown> | string) => {
  const path = join(service.folder, name)
  writeFileSync(path, typeof rows === "string" ? rows : rows.map((row) => JSON.stringify(row)).join("\n"))
  return path
}

type Json = Record<string, unknown>
const send = async (method: string, path: string) => {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: { authorization: env["WAYPOST_API_KEY"]! }
  })
  return (await response.json()) as { readonly data: unknown }
}
const list = async (path: string) => (await send("GET", path)).data as ReadonlyArray<Json>
const find = async (identifier: string) => (await list(`/v1/products?filter=identifier:equals:${identifier}`))[0]!
const moduleOf = async (identifier: string, name: string) =>
  (await send("GET", `/v1/products/${String((await find(identifier))["uuid"])}/modules/${name}`)).data as Json

const imported = async (path: string) => {
  const { code, err, out } = await waypost(["import", "products", path], env)
  const reasons = `${path}.refused.ndjson`
  const refused = existsSync(reasons) ? readFileSync(reasons, "utf8") : ""
  return { code, err, out, refused }
}
const exported = async (name: string) => {
  const path = join(service.folder, name)
  const { code, err } = await waypost(["export", "products", path], env)
  assert.strictEqual(code, 0, err)
  return { path, text: readFileSync(path, "utf8") }
}
const deleteProducts = async () => {
  for (const type of ["variant", "variantParent", "default"]) {
    for (const { uuid } of await list(`/v1/products?limit=500&filter=type:equals:${type}`))
      await send("DELETE", `/v1/products/${String(uuid)}`)
  }
}

/** One variant precedes its parent, and the parent precedes its default variant. */
const shop = [variants[0], poster, parent, variants[1]]

/** The members that do not depend on the service. */
const portable = (row: Json): Json => Struct.omit(row, ["uuid", "defaultVariantUuid", "createdAt", "editedAt"])
const rowsOf = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Json)
    .toSorted((a, b) => String(a["identifier"]).localeCompare(String(b["identifier"])))
    .map(portable)

beforeAll(async () => {
  service = await Served.start()
  env = { WAYPOST_URL: service.url, WAYPOST_API_KEY: service.key }
  const locations = ["L-1", "L-2"].map((identifier) => ({ name: `Branch ${identifier}`, identifier }))
  await waypost(["import", "locations", file("locations.ndjson", locations)], env)
  const anna = { username: "anna", email: "anna@x.example", firstName: "Anna", lastName: "Smit" }
  await waypost(["import", "users", file("users.ndjson", [anna])], env)
  await waypost(["import", "groups", file("groups.ndjson", [{ name: "North" }, { name: "South" }])], env)
})
afterAll(() => service?.[Symbol.asyncDispose]())

describe("waypost import and export of products", () => {
  it("an export has no uuids of other records, and importing it into an empty service gives the same export", async () => {
    const path = file("shop.ndjson", shop)
    const first = await imported(path)
    assert.strictEqual(first.code, 0, first.refused)
    assert.match((await imported(path)).out, /products: 4 unchanged/)
    const before = await exported("before.ndjson")
    for (const kind of ["users", "locations", "groups"]) {
      for (const { uuid } of await list(`/v1/${kind}`)) assert.notInclude(before.text, String(uuid))
    }
    await deleteProducts()
    const { code, refused } = await imported(before.path)
    assert.strictEqual(code, 0, refused)
    const after = await exported("after.ndjson")
    assert.deepStrictEqual(rowsOf(after.text), rowsOf(before.text))
    const row = rowsOf(after.text).find(({ identifier }) => identifier === "POSTER")
    assert.lengthOf(Object.keys(row!["modules"] as Json), 15)
    assert.deepInclude(row, { status: "published" })
    assert.deepInclude((row!["modules"] as Json)["workflow"], {
      autoApproveBelow: { amountMinor: 500, currency: "EUR" }
    })
    const shirt = await find("SHIRT")
    assert.strictEqual(shirt["defaultVariantUuid"], (await find("SHIRT-L"))["uuid"])
    assert.match((await imported(before.path)).out, /products: 4 unchanged/)
  })

  it("names of groups, locations, users and products become uuids, and uuids are accepted as well", async () => {
    const [north] = await list("/v1/groups?filter=name:equals:North")
    assert.deepInclude(await moduleOf("POSTER", "permissions"), {
      groups: [{ uuid: north!["uuid"], name: "North", actions: ["view", "order"] }]
    })
    const path = file("uuid.ndjson", [
      { ...poster, modules: { permissions: { groups: [{ uuid: north!["uuid"], actions: ["view"] }] } } }
    ])
    assert.strictEqual((await imported(path)).code, 0)
    assert.deepInclude(await moduleOf("POSTER", "permissions"), {
      groups: [{ uuid: north!["uuid"], name: "North", actions: ["view"] }]
    })
  })

  it("an import replaces the modules of a row, deactivates those that are null, and keeps the others", async () => {
    const row = (modules: Json) => ({ type: "default", identifier: "WHOLE", name: "Whole", modules })
    const price = { model: "fixed", amountMinor: 100, tiers: [{ minimumQuantity: 2, amountMinor: 90 }] }
    const run = (modules: Json) => imported(file("whole.ndjson", [row(modules)]))
    assert.include((await run({ price, stock: { onHand: 3 } })).out, "1 created")
    assert.include((await run({ price: { model: "fixed", amountMinor: 100 } })).out, "1 updated")
    assert.deepInclude(await moduleOf("WHOLE", "price"), { tiers: [] })
    assert.deepInclude(await moduleOf("WHOLE", "stock"), { onHand: 3 })
    assert.include((await run({ stock: null })).out, "1 updated")
    assert.include((await run({ stock: null, api: null })).out, "1 unchanged")
    assert.strictEqual(await moduleOf("WHOLE", "stock"), undefined)
    assert.deepInclude(await moduleOf("WHOLE", "price"), { amountMinor: 100 })
  })

  it("an import passes over a null for a module that a product of the type cannot have", async () => {
    const path = file("parent.ndjson", [
      {
        type: "variantParent",
        identifier: "NO-STOCK",
        name: "No stock",
        modules: { price: { model: "free" }, stock: null }
      }
    ])
    assert.include((await imported(path)).out, "1 created")
    assert.deepInclude(await moduleOf("NO-STOCK", "price"), { model: "free" })
    assert.include((await imported(path)).out, "1 unchanged")
  })

  it("an import reports errors in modules by their path in the row, and the product stays a draft", async () => {
    const row = (identifier: string, modules: Json, rest: Json = {}) => ({
      type: "default",
      identifier,
      name: "X",
      status: "published",
      modules,
      ...rest
    })
    const path = file("wrong.ndjson", [
      row("W-1", { stock: { onHnd: 1 }, price: { amountMinor: "1" } }),
      row("W-2", { stock: { minOrderQuantity: 5, maxOrderQuantity: 2 } }),
      row("W-3", { permissions: { groups: ["Unknown"] } }),
      row("W-4", {}, { type: "variant", parent: "NO-SUCH", options: ["size=m"] }),
      row("W-5", {}, { type: "variant", parent: "SHIRT", options: ["m"] })
    ])
    const { code, out, refused } = await imported(path)
    assert.strictEqual(code, 1)
    assert.include(out, "5 refused")
    for (const reason of [
      '"path":"modules.stock.onHnd","code":"unknownMember"',
      '"path":"modules.price.amountMinor","code":"wrongType"',
      '"path":"modules.stock.maxOrderQuantity","code":"notInOrder"',
      'No group has the name \\"Unknown\\"',
      'No product has the identifier \\"NO-SUCH\\"',
      '"path":"options.0","code":"invalidFormat"'
    ])
      assert.include(refused, reason)
    assert.strictEqual((await find("W-2"))["status"], "draft")
    assert.strictEqual(await find("W-1"), undefined as never)
  })

  it("a CSV file has the fields of products and variants without modules, and importing it changes no module", async () => {
    await imported(file("table.ndjson", shop))
    const { path, text } = await exported("table.csv")
    assert.include(text.split("\n")[0]!, "parent,options")
    assert.include(text, "SHIRT,size=m;colour\\\\=tone=red")
    const before = await exported("modules-before.ndjson")
    assert.match((await imported(path)).out, /products: \d+ unchanged/)
    const renamed = file("renamed.csv", "type,identifier,name,status\ndefault,POSTER,Renamed,published\n")
    assert.include((await imported(renamed)).out, "1 updated")
    const after = await exported("modules-after.ndjson")
    assert.strictEqual((await find("POSTER"))["name"], "Renamed")
    assert.deepStrictEqual(
      rowsOf(after.text).map(({ modules }) => modules),
      rowsOf(before.text).map(({ modules }) => modules)
    )
    const { code, err } = await imported(file("column.csv", "type,identifier,name,price.amountMinor\n"))
    assert.strictEqual(code, 1)
    assert.include(err, 'Unknown column "price.amountMinor"')
  })

  it("an export to CSV names the members that records have and the file cannot hold", async () => {
    await imported(file("lossy.ndjson", shop))
    const run = async (resource: string, ...options: ReadonlyArray<string>) => {
      const { code, err } = await waypost(["export", resource, "-", ...options], env)
      assert.strictEqual(code, 0, err)
      return err
    }
    const lacks = (members: string) =>
      `The export lacks the ${members} of products, which CSV cannot hold; use json or ndjson\n`
    assert.strictEqual(await run("products", "--format", "csv"), lacks("modules, translations"))
    assert.strictEqual(await run("products", "--format", "ndjson"), "")
    const shirts = ["--filter", "identifier:startsWith:SHIRT"]
    assert.strictEqual(await run("products", "--format", "csv", ...shirts), lacks("modules"))
    assert.strictEqual(await run("products", "--format", "csv", "--filter", "modules.active:exists:false"), "")
    assert.strictEqual(await run("locations", "--format", "csv"), "")
    const hours = { timezone: "Europe/Amsterdam", openingHours: [{ day: 1, opens: "09:00", closes: "17:00" }] }
    const opened = file("opened.ndjson", [{ name: "Opened", identifier: "OPENED", ...hours }])
    assert.include((await waypost(["import", "locations", opened], env)).out, "1 created")
    assert.include(await run("locations", "--format", "csv"), "lacks the openingHours of locations,")
  })

  it("an export takes the filters of the list, which name the members of the API and not those of the file", async () => {
    await imported(file("filtered.ndjson", shop))
    const { uuid } = await find("SHIRT")
    const run = (filter: string) => waypost(["export", "products", "-", "--format", "ndjson", "--filter", filter], env)
    const identifiers = async (filter: string) => {
      const { code, err, out } = await run(filter)
      assert.strictEqual(code, 0, err)
      return rowsOf(out).map(({ identifier }) => identifier)
    }
    assert.deepStrictEqual(await identifiers(`parentUuid:equals:${String(uuid)}`), ["SHIRT-L", "SHIRT-M"])
    assert.include(await identifiers("modules.module:equals:price"), "SHIRT")
    assert.deepStrictEqual(await identifiers("optionValues.value:equals:l,modules.active:equals:true"), ["SHIRT-L"])
    const { code, err } = await run("parent:equals:SHIRT")
    assert.strictEqual(code, 1)
    assert.include(err, 'Unknown filter field "parent"')
  })

  it("of product rows with one identifier the first is imported, also when it is deferred, and the others are rejected", async () => {
    const variant = (name: string) => ({ ...variants[1], identifier: "LATE-V", parent: "LATE", name })
    const path = file("late.ndjson", [
      variant("First"),
      { ...parent, identifier: "LATE", modules: {} },
      ...Array.from({ length: 40 }, (_, index) => variant(`Name ${index}`))
    ])
    const { code, out, refused } = await imported(path)
    assert.strictEqual(code, 1)
    assert.include(out, "2 created, 40 refused")
    assert.include(refused, 'line 42 has the same identifier as line 1: \\"LATE-V\\"')
    assert.deepInclude(await find("LATE-V"), { name: "First" })
  })
})
