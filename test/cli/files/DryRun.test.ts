import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { afterAll, beforeAll } from "vitest"
import * as Importing from "../../support/cli/Importing.ts"

let importing: Importing.Importing

beforeAll(async () => {
  importing = await Importing.start()
})
afterAll(() => importing?.service[Symbol.asyncDispose]())

const counts = (out: string) => / (\d.*) \(/.exec(out)?.[1]
const recordsOf = async (resource: string) => (await importing.service.call("GET", `/v1/${resource}?limit=500`)).text

/** A dry run, then the real one: the same counts and reasons, and nothing is written by the first. */
const both = async (resource: string, path: string, format: string) => {
  const before = await recordsOf(resource)
  const dry = await importing.run(resource, path, "--dry-run")
  assert.strictEqual(await recordsOf(resource), before)
  assert.isFalse(existsSync(`${path}.refused.${format}`))
  const real = await importing.run(resource, path)
  assert.strictEqual(counts(dry.out), counts(real.out))
  assert.strictEqual(dry.code, real.code)
  assert.include(dry.out, "This was a dry run; nothing was written")
  return { dry, real }
}

describe("waypost import --dry-run", () => {
  it("writes nothing and prints the counts and issues of the import, with exit code 1 for refused rows", async () => {
    const first = importing.file("identifier,name\nA-1,A\nA-2,B\n", "csv")
    assert.strictEqual((await both("locations", first, "csv")).dry.code, 0)
    const rows = ["A-1,A,", "A-2,Renamed,", "A-3,C,", "A-3,C again,", ",D,", "A-4,E,bel ons"]
    const second = importing.file(["identifier,name,contact.phone", ...rows].join("\n"), "csv")
    const { dry } = await both("locations", second, "csv")
    assert.strictEqual(counts(dry.out), "1 created, 1 updated, 1 unchanged, 3 refused")
    assert.strictEqual(dry.code, 1)
    const rejected = readFileSync(`${second}.refused.csv`, "utf8").replaceAll('""', '"')
    for (const line of dry.out.split("\n").filter((text) => text.startsWith("line "))) assert.include(rejected, line)
    assert.lengthOf(dry.out.match(/^line \d/gm) ?? [], 3)
  })

  it("a dry run has the rejections of the database: a user whose e-mail address another one has", async () => {
    const first = importing.file("username,email,locations\nanna,anna@x.example,A-1\n", "csv")
    assert.include((await both("users", first, "csv")).dry.out, "1 created")
    const rows = ["bram,ANNA@x.example,A-1", "carla,carla@x.example,NOWHERE", "anna,new@x.example,A-2"]
    const second = importing.file(["username,email,locations", ...rows].join("\n"), "csv")
    const { dry } = await both("users", second, "csv")
    assert.strictEqual(counts(dry.out), "1 updated, 2 refused")
    assert.include(dry.out, 'line 3: No location has the identifier "NOWHERE"')
  })

  it("accepts a variant whose parent the same file creates, in any order, and rejects one without a parent", async () => {
    const variant = {
      type: "variant",
      name: "V",
      options: ["size=m"],
      modules: { price: { model: "fixed", amountMinor: 5 } }
    }
    const records = [
      { ...variant, identifier: "SHIRT-M", parent: "SHIRT" },
      { type: "variantParent", identifier: "SHIRT", name: "Shirt" },
      { ...variant, identifier: "COAT-M", parent: "COAT" },
      { type: "default", identifier: "MUG", name: "Mug", modules: { price: { model: "no such model" } } }
    ]
    const path = importing.file(records.map((one) => JSON.stringify(one)).join("\n"), "ndjson")
    const { dry } = await both("products", path, "ndjson")
    assert.strictEqual(counts(dry.out), "2 created, 2 refused")
    assert.include(dry.out, 'line 3: No product has the identifier "COAT"')
    const changed = importing.file(
      JSON.stringify({ ...records[0], name: "W", modules: { price: { model: "fixed", amountMinor: 6 } } }),
      "ndjson"
    )
    assert.strictEqual(counts((await both("products", changed, "ndjson")).dry.out), "1 updated")
  })

  it("validates posts and groups", async () => {
    const translations = [{ locale: "nl", title: "Actie", body: "Tekst" }]
    const post = (slug: string, status: string, more = {}) => ({ slug, status, type: "news", translations, ...more })
    const posts = importing.file(JSON.stringify([post("actie", "published"), { slug: "leeg" }]), "json")
    const { dry } = await both("posts", posts, "json")
    assert.match(counts(dry.out)!, /1 refused/)
    const groups = importing.file('[{"name":"Noord","locations":["A-1"]}]', "json")
    assert.strictEqual(counts((await both("groups", groups, "json")).dry.out), "1 created")
  })

  it("writes the file of refused rows where --refused names one", async () => {
    const path = importing.file("identifier,name\nZ-1,\n", "csv")
    const { code } = await importing.run("locations", path, "--dry-run", "--refused", `${path}.mine`)
    assert.strictEqual(code, 1)
    assert.include(readFileSync(`${path}.mine`, "utf8"), "Z-1,,line 2: name: Required")
  })
})
