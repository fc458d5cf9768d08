import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, beforeEach } from "vitest"
import { waypost } from "../../support/cli/Command.ts"
import * as Uploading from "../upload/Uploading.ts"

let running: Awaited<ReturnType<typeof Uploading.start>>

beforeAll(async () => {
  running = await Uploading.start()
})
beforeEach(() => running.proxy.reset())
afterAll(() => running.stop())

interface Exported {
  readonly uuid: string
  readonly identifier: string
}

/** Exports a resource, and returns the output and the records. */
const exported = async (resource: string) => {
  const path = join(running.folder, `${resource}.ndjson`)
  const { code, err, out } = await waypost(["export", resource, path], running.env)
  assert.strictEqual(code, 0, err)
  const lines = readFileSync(path, "utf8").trim().split("\n")
  return { out, records: lines.map((line) => JSON.parse(line) as Exported) }
}

/** Creates locations, one each second until now. */
const create = (count: number, prefix: string) =>
  running.execute(`insert into locations (uuid, name, identifier, created_at, edited_at)
    select gen_random_uuid(), 'Branch', '${prefix}-' || i, at, at
    from generate_series(1, ${count}) i, lateral (select now() - (${count} - i) * interval '1 second' as at) times`)

/** Deletes locations in one request. */
const remove = async (locations: ReadonlyArray<Exported>) => {
  const operations = locations.map(({ uuid }) => ({ op: "delete", uuid }))
  if (operations.length === 0) return
  const answer = await running.call("POST", "/v1/locations/bulk", { operations })
  assert.deepInclude(answer, { counts: { 200: operations.length } })
}

describe("waypost export of records that change", () => {
  it("an export holds every record that stays, once, while the oldest ones are deleted", async () => {
    await create(1400, "B")
    const before = (await exported("locations")).records
    assert.lengthOf(before, 1400)

    const isList = (path: string) => path.startsWith("/v1/locations?")
    let lists = 0
    running.proxy.decide(async ({ path }): Promise<"pass"> => {
      lists += isList(path) ? 1 : 0
      // Before the second page and before the third.
      const deleted = lists === 2 ? before.slice(0, 300) : lists === 3 ? before.slice(300, 310) : []
      await remove(deleted)
      return "pass"
    })
    const { out, records } = await exported("locations")
    running.proxy.reset()
    const found = new Set(records.map(({ uuid }) => uuid))
    assert.strictEqual(found.size, records.length)
    const staying = before.slice(310)
    assert.strictEqual((await exported("locations")).records.length, staying.length)
    assert.deepStrictEqual(
      staying.filter(({ uuid }) => !found.has(uuid)),
      []
    )
    assert.include(out, `${records.length.toLocaleString("en")} exported`)
    assert.strictEqual(lists, 3)
  })

  it("an exported group holds every member that stays while others are deleted", async () => {
    await create(700, "M")
    const { records } = await exported("locations")
    const members = records.filter(({ identifier }) => identifier.startsWith("M-"))
    const group = { name: "Members", locations: members.map(({ uuid }) => uuid) }
    await running.call("POST", "/v1/groups", group)
    let lists = 0
    running.proxy.decide(async ({ path }): Promise<"pass"> => {
      if (!/^\/v1\/groups\/[^/]+\/locations\?/.test(path)) return "pass"
      lists++
      const deleted = lists === 2 ? [...members.slice(0, 60), ...members.slice(-60)] : []
      await remove(deleted)
      return "pass"
    })
    const groups = (await exported("groups")).records as unknown as ReadonlyArray<{ locations: ReadonlyArray<string> }>
    running.proxy.reset()
    const found = new Set(groups[0]!.locations)
    assert.strictEqual(found.size, groups[0]!.locations.length)
    assert.deepStrictEqual(
      members.slice(60, -60).filter(({ identifier }) => !found.has(identifier)),
      []
    )
    assert.isAbove(lists, 1)
  })

  it("of two exports to one file at the same time, both succeed, and the file is the whole one that ends last", async () => {
    const path = join(running.folder, "shared.ndjson")
    const run = (...flags: ReadonlyArray<string>) => waypost(["export", "locations", path, ...flags], running.env)
    let other: ReturnType<typeof run> | undefined
    running.proxy.decide(async (): Promise<"pass"> => {
      const isFirst = other === undefined
      other ??= run("--filter", "identifier:equals:B-1399")
      if (isFirst) await other
      return "pass"
    })
    const { code, err, out } = await run()
    assert.strictEqual(code, 0, err)
    const { code: otherCode, err: otherErr, out: otherOut } = await other!
    assert.strictEqual(otherCode, 0, otherErr)
    assert.include(otherOut, "1 exported")
    const count = readFileSync(path, "utf8").trim().split("\n").length
    assert.isAbove(count, 1000)
    assert.include(out, `${count.toLocaleString("en")} exported`)
    assert.deepStrictEqual(
      readdirSync(running.folder).filter((name) => name.startsWith("shared")),
      ["shared.ndjson"]
    )
  })

  it("records that are deleted while their page is exported are left out, and the names of deleted records in others", async () => {
    const create = async (resource: string, record: object) =>
      ((await running.call("POST", `/v1/${resource}`, record)).data as Exported).uuid
    const user = (name: string) => create("users", { username: name, email: `${name}@example.com` })
    const [gone, author] = [await user("gone"), await user("author")]
    await user("stays")
    const group = await create("groups", { name: "Gone" })
    const parent = await create("products", { type: "variantParent", identifier: "GONE", name: "Gone" })
    const variant = await create("products", {
      type: "variant",
      identifier: "GONE-M",
      name: "Gone variant",
      parentUuid: parent,
      optionValues: [{ option: "size", value: "m" }]
    })
    await create("products", { type: "default", identifier: "STAYS", name: "Stays" })
    const post = await create("posts", {
      slug: "stays",
      type: "news",
      author: { uuid: author },
      translations: [{ locale: "en", title: "Stays" }]
    })
    /** Deletes records before a request. */
    const deleting = (request: string, ...paths: ReadonlyArray<string>) => {
      let isDone = false
      running.proxy.decide(async ({ path }): Promise<"pass"> => {
        if (!isDone && path.startsWith(request)) {
          isDone = true
          for (const path of paths) await running.call("DELETE", path)
        }
        return "pass"
      })
    }
    const names = async (resource: string) =>
      (await exported(resource)).records.map((record) => Object(record).username ?? Object(record).name)

    deleting(`/v1/users/${gone}/locations`, `/v1/users/${gone}`)
    assert.sameMembers(await names("users"), ["author", "stays"])
    deleting(`/v1/groups/${group}/users`, `/v1/groups/${group}`)
    assert.notInclude(await names("groups"), "Gone")
    deleting(`/v1/products/${parent}`, `/v1/products/${variant}`, `/v1/products/${parent}`)
    const products = await names("products")
    assert.include(products, "Stays")
    assert.notInclude(products, "Gone variant")
    deleting(`/v1/users/${author}`, `/v1/users/${author}`)
    const found = (await exported("posts")).records.find(({ uuid }) => uuid === post)
    assert.isDefined(found)
    assert.notProperty(found, "author")
    await running.call("DELETE", `/v1/posts/${post}`)
  })

  it("an export reads records that are too large for a page of 500 in smaller pages", async () => {
    // 16 MB together, of which half a page is not too large.
    const body = "€".repeat(18_600)
    const slugs = Array.from({ length: 300 }, (_, index) => `large-${index}`)
    const translations = [{ locale: "en", title: "Large", body }]
    await running.call("POST", "/v1/posts", { slug: slugs[0], type: "news", translations })
    await running.execute(`
      insert into posts (uuid, slug, type, status, translations, audience, pinned, created_at, edited_at)
      select gen_random_uuid(), 'large-' || i, type, status, translations, audience, pinned,
        created_at + i * interval '1 second', edited_at + i * interval '1 second'
      from posts, generate_series(1, ${slugs.length - 1}) i where slug = 'large-0'`)
    const { records } = await exported("posts")
    const found = records as unknown as ReadonlyArray<{
      readonly slug: string
      readonly translations: ReadonlyArray<{ readonly body: string }>
    }>
    assert.deepStrictEqual(
      found.map(({ slug }) => slug),
      slugs
    )
    assert.isTrue(found.every(({ translations }) => translations[0]!.body.includes(body)))
    const limits = running.proxy.answered.map(({ path }) =>
      Number(new URLSearchParams(path.split("?")[1]).get("limit"))
    )
    assert.strictEqual(limits[0], 500)
    assert.isBelow(Math.min(...limits), slugs.length)
  })
})
