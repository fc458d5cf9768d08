import { assert, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import writeWorkbook from "write-excel-file/node"
import { waypost } from "../../support/cli/Command.ts"
import * as Served from "../../support/cli/Served.ts"

let service: Served.Served
let env: Record<string, string>

beforeAll(async () => {
  service = await Served.start()
  env = { WAYPOST_URL: service.url, WAYPOST_API_KEY: service.key }
})
afterAll(() => service?.[Symbol.asyncDispose]())

const sync = (resource: string, name: string, lines: ReadonlyArray<string>, ...flags: ReadonlyArray<string>) => {
  const path = join(service.folder, name)
  writeFileSync(path, `${lines.join("\n")}\n`)
  return waypost(["sync", resource, path, ...flags], env)
}

const listed = async (path: string) => {
  const response = await fetch(`${service.url}${path}`, { headers: { authorization: env["WAYPOST_API_KEY"]! } })
  const { data } = (await response.json()) as { readonly data: ReadonlyArray<Record<string, unknown>> }
  return data
}
const namesOf = async (prefix: string) =>
  (await listed(`/v1/locations?filter=identifier:startsWith:${prefix}&sortBy=identifier&sortOrder=asc`)).map(
    ({ identifier, name }) => `${String(identifier)} ${String(name)}`
  )

describe("waypost sync", () => {
  it("--plan shows what would change, to the leaves, writes nothing and exits with 2, or with 0 if there is nothing", async () => {
    const lines = ["identifier;name;address.city", "SP-1;One;Utrecht"]
    const planned = await sync("locations", "planned.csv", lines, "--plan")
    assert.strictEqual(planned.code, 2)
    assert.strictEqual(
      planned.out,
      "locations: 1 to create\ncreate SP-1 line 2\n  + name: One\n  + identifier: SP-1\n  + address.city: Utrecht\n"
    )
    assert.deepStrictEqual(await namesOf("SP-"), [])
    assert.strictEqual((await sync("locations", "planned.csv", lines, "--yes")).code, 0)
    const again = await sync("locations", "planned.csv", lines, "--plan")
    assert.deepStrictEqual([again.code, again.out], [0, "locations: 1 unchanged\nNothing to do\n"])
  })

  it("the rows of a workbook have the numbers that the spreadsheet shows, also behind rows without content", async () => {
    const cells = [
      ["identifier", "name", "contact.email"],
      [null, null, null],
      ["SW-1", null, null],
      ["SW-2", "Two", "no address"],
      ["SW-3", "Three", null]
    ]
    const path = join(service.folder, "sheet.xlsx")
    const rows = cells.map((row) => row.map((value) => (value === null ? null : { value })))
    writeFileSync(path, await writeWorkbook(rows).toBuffer())
    const { code, out } = await waypost(["sync", "locations", path, "--plan"], env)
    assert.strictEqual(code, 2)
    assert.deepStrictEqual(out.match(/\brow \d+/g), ["row 3", "row 4", "row 5"], out)
  })

  it("without a terminal it writes only with --yes", async () => {
    const lines = ["identifier,name", "SY-1,One"]
    const asked = await sync("locations", "asked.csv", lines)
    assert.deepStrictEqual(
      [asked.code, asked.err],
      [1, "Pass --yes to apply the changes, or --plan to only show them\n"]
    )
    assert.deepStrictEqual(await namesOf("SY-"), [])
    assert.strictEqual((await sync("locations", "asked.csv", lines, "--yes")).code, 0)
    assert.deepStrictEqual(await namesOf("SY-"), ["SY-1 One"])
  })

  it("--full deletes the records that match the filter and are not in the file, up to --max-deletes percent", async () => {
    await sync("locations", "three.csv", ["identifier,name", "SF-1,One", "SF-2,Two", "SF-3,Three"], "--yes")
    const one = ["identifier,name", "SF-1,One"]
    const full = ["--full", "--yes", "--filter", "identifier:startsWith:SF-"]
    const guarded = await sync("locations", "one.csv", one, ...full)
    assert.strictEqual(guarded.code, 1)
    assert.include(guarded.out, "! 2 of 3 records would be deleted, which is more than 10 percent\n")
    assert.lengthOf(await namesOf("SF-"), 3)
    assert.strictEqual((await sync("locations", "one.csv", one, ...full, "--max-deletes", "70")).code, 0)
    assert.deepStrictEqual(await namesOf("SF-"), ["SF-1 One"])
  })

  it("a file with rows that cannot be written is applied with --force, without these rows", async () => {
    const lines = ["identifier,name", "SR-1,One", "SR-1,Again", "SR-2,"]
    const refused = await sync("locations", "refused.csv", lines, "--yes")
    assert.strictEqual(refused.code, 1)
    assert.match(refused.out, /line 3: identifier: line 3 has the same identifier as line 2/)
    assert.deepStrictEqual(await namesOf("SR-"), [])
    assert.strictEqual((await sync("locations", "refused.csv", lines, "--yes", "--force")).code, 0)
    assert.deepStrictEqual(await namesOf("SR-"), ["SR-1 One"])
  })

  it("--full keeps the records of rows that cannot be written, and deletes nothing while a key cannot be read", async () => {
    const names = ["1", "2", "3", "4"].map((name) => `SK-${name},Branch,NL,`)
    const titles = "identifier,name,address.countryCode,contact.phone"
    assert.strictEqual((await sync("locations", "kept.csv", [titles, ...names], "--yes")).code, 0)
    const full = ["--full", "--yes", "--force", "--max-deletes", "100", "--filter", "identifier:startsWith:SK-"]
    const unread = await sync("locations", "kept.csv", [titles, "SK-1,Branch,NL,", "SK-2,Branch"], ...full)
    assert.include(unread.out, "nothing is deleted, because the key of row 3 cannot be read")
    assert.lengthOf(await namesOf("SK-"), 4)
    const rows = ["SK-1,Branch,NL,garbage", "SK-2,Branch,Narnia,", "SK-3,Renamed,NL,"]
    const kept = await sync("locations", "kept.csv", [titles, ...rows], ...full)
    assert.include(kept.out, "line 2: contact.phone: ")
    assert.include(kept.out, "locations: 1 to update, 1 to delete, 2 refused")
    assert.deepStrictEqual(await namesOf("SK-"), ["SK-1 Branch", "SK-2 Branch", "SK-3 Renamed"])
  })

  it("--full deletes nothing while the key of a row is not text, as an identifier that JSON has as a number", async () => {
    const lines = ['{"identifier":"4711","name":"One"}', '{"identifier":"4711-2","name":"Two"}']
    assert.strictEqual((await sync("locations", "numbers.ndjson", lines, "--yes")).code, 0)
    const full = ["--full", "--yes", "--force", "--max-deletes", "100", "--filter", "identifier:startsWith:4711"]
    const { code, out } = await sync("locations", "numbers.ndjson", ['{"identifier":4711,"name":"One"}'], ...full)
    assert.strictEqual(code, 0, out)
    assert.include(out, "nothing is deleted, because the key of row 1 cannot be read")
    assert.deepStrictEqual(await namesOf("4711"), ["4711 One", "4711-2 Two"])
  })

  it("--plan of a file with rows that cannot be written says that applying it takes --force", async () => {
    const planned = await sync("locations", "forced.csv", ["identifier,name", "SX-1,One", "SX-1,Two"], "--plan")
    assert.deepStrictEqual(
      [planned.code, planned.err],
      [2, "Nothing was written; run it with --force instead of --plan to apply this\n"]
    )
  })

  it("a file that fails a safety check and changes nothing says that there is nothing to apply", async () => {
    assert.strictEqual((await sync("locations", "same.csv", ["identifier,name", "SZ-1,One"], "--yes")).code, 0)
    const lines = ["identifier,name", "SZ-1,One", "SZ-1,Two"]
    for (const [flag, code] of [["--plan", 2] as const, ["--yes", 1] as const]) {
      const { code: exit, err } = await sync("locations", "same.csv", lines, flag)
      const message = "The plan does not pass the safety checks above, and has nothing to apply\n"
      assert.deepStrictEqual([exit, err], [code, message], flag)
    }
  })

  it("groups are found by name, and their members by identifier and username", async () => {
    await sync("locations", "member.csv", ["identifier,name", "SG-1,One"], "--yes")
    const lines = ['{"name":"Region","locations":["SG-1"]}']
    assert.strictEqual((await sync("groups", "groups.ndjson", lines, "--yes")).code, 0)
    const [group] = await listed("/v1/groups?filter=name:equals:Region")
    assert.strictEqual(group!["locationCount"], 1)
    assert.strictEqual((await sync("groups", "groups.ndjson", lines, "--plan")).code, 0)
  })

  it("users that exist get the locations and groups that their rows name", async () => {
    await sync("locations", "homes.csv", ["identifier,name", "SU-1,One", "SU-2,Two"], "--yes")
    const rows = (identifier: string) => ["username,email,locations", `sync.anna,sync.anna@x.example,${identifier}`]
    assert.strictEqual((await sync("users", "users.csv", rows("SU-1"), "--yes")).code, 0)
    const moved = await sync("users", "users.csv", rows("SU-2"), "--yes")
    assert.strictEqual(moved.code, 0, moved.err)
    const [user] = await listed("/v1/users?filter=username:equals:sync.anna")
    const locations = await listed(`/v1/users/${String(user!["uuid"])}/locations`)
    assert.deepStrictEqual(
      locations.map(({ identifier }) => identifier),
      ["SU-2"]
    )
    assert.strictEqual((await sync("users", "users.csv", rows("SU-2"), "--plan")).code, 0)
  })

  it("products are found by identifier and their parents by name; rows with modules are left to import", async () => {
    const parent = '{"type":"variantParent","identifier":"SV","name":"Shirt"}'
    assert.strictEqual((await sync("products", "parent.ndjson", [parent], "--yes")).code, 0)
    const lines = [
      parent,
      '{"type":"variant","identifier":"SV-M","name":"Shirt, M","parent":"SV","options":["size=m"]}',
      '{"type":"default","identifier":"SV-2","name":"Mug","modules":{"price":{"model":"free"}}}'
    ]
    const guarded = await sync("products", "products.ndjson", lines, "--yes")
    assert.strictEqual(guarded.code, 1)
    assert.include(guarded.out, "line 3: modules: A plan does not write modules; use waypost import")
    const done = await sync("products", "products.ndjson", lines, "--yes", "--force")
    assert.include(done.out, "products: 1 to create, 1 unchanged")
    assert.deepStrictEqual(
      (await listed("/v1/products?filter=identifier:startsWith:SV&sortBy=identifier&sortOrder=asc")).map(
        ({ identifier }) => identifier
      ),
      ["SV", "SV-M"]
    )
  })

  it("posts are found by slug, with author and audience by name; a row that publishes a post is left to import", async () => {
    await sync("users", "author.csv", ["username,email", "sync.author,sync.author@x.example"], "--yes")
    await sync("groups", "audience.ndjson", ['{"name":"Readers"}'], "--yes")
    const post = (more: object) =>
      JSON.stringify({
        slug: "sync-post",
        type: "news",
        translations: [{ locale: "nl", title: "Nieuws" }],
        author: "sync.author",
        audience: { authorizationType: "groups", groups: ["Readers"] },
        ...more
      })
    const scheduled = { status: "scheduled", publishAt: "2126-01-01T00:00:00.000Z" }
    assert.strictEqual((await sync("posts", "posts.ndjson", [post(scheduled)], "--yes")).code, 0)
    const [found] = await listed("/v1/posts?filter=slug:equals:sync-post")
    assert.deepInclude(found, { status: "scheduled" })
    assert.strictEqual((found!["author"] as { readonly name: string }).name, "sync.author")
    const ahead = await sync("posts", "posts.ndjson", [post({ status: "published" })], "--plan")
    assert.strictEqual(ahead.code, 2)
    assert.include(ahead.out, "status: A plan does not publish or archive posts; use waypost import")
    assert.strictEqual((await sync("posts", "posts.ndjson", [post(scheduled)], "--plan")).code, 0)
  })

  it("--plan shows all changes; --yes shows the first ones, and an address that has all of them", async () => {
    const lines = (name: string) => [
      "identifier,name",
      ...Array.from({ length: 350 }, (_, index) => `SA-${index},${name}`)
    ]
    const planned = await sync("locations", "all.csv", lines("One"), "--plan")
    assert.lengthOf(planned.out.match(/^create SA-/gm)!, 350)
    assert.include(planned.out, "create SA-349 line 351\n")
    assert.notInclude(planned.out, "… and")
    const applied = await sync("locations", "all.csv", lines("One"), "--yes")
    assert.lengthOf(applied.out.match(/^create SA-/gm)!, 20)
    const [, path] = /^… and 330 more: GET (\S+)$/m.exec(applied.out)!
    assert.lengthOf(await listed(`${path}?limit=500`), 350)
    const rejected = await sync("locations", "all.csv", [...lines("Two"), "SA-x,"], "--yes")
    assert.strictEqual(rejected.code, 1)
    assert.include(rejected.out, "… and 331 more: with --plan\n")
  })

  it("shows all changes of records whose first changes have more than 15 MiB, fewer at once", async () => {
    // Three million bytes each.
    const translations = ["de", "en", "es", "fr", "nl"].map((locale) => ({
      locale,
      title: "Long",
      body: "€".repeat(200_000)
    }))
    const posts = Array.from({ length: 6 }, (_, index) =>
      JSON.stringify({ slug: `long-${index}`, type: "news", translations })
    )
    const planned = await sync("posts", "long.ndjson", posts, "--plan")
    assert.strictEqual(planned.code, 2, planned.err)
    assert.include(planned.out, "posts: 6 to create\ncreate long-0 line 1\n")
    assert.deepStrictEqual(
      planned.out.match(/^create .*/gm),
      posts.map((_, index) => `create long-${index} line ${index + 1}`)
    )
  })
})
