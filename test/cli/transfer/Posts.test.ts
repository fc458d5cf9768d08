import { assert, describe, it } from "@effect/vitest"
import { Struct } from "effect"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { waypost } from "../../support/cli/Command.ts"
import * as Served from "../../support/cli/Served.ts"

let service: Served.Served
let env: Record<string, string>

type Json = Record<string, unknown>

const file = (name: string, rows: ReadonlyArray<unknown>) => {
  const path = join(service.folder, name)
  writeFileSync(path, JSON.stringify(rows))
  return path
}
const imported = async (rows: ReadonlyArray<unknown>, resource = "posts") => {
  const path = file(`${resource}.json`, rows)
  const reasons = `${path}.refused.json`
  writeFileSync(reasons, "")
  const { code, err, out } = await waypost(["import", resource, path], env)
  return { code, err, out, refused: readFileSync(reasons, "utf8") }
}
const exported = async () => {
  const path = join(service.folder, "export.json")
  const { code, err } = await waypost(["export", "posts", path], env)
  assert.strictEqual(code, 0, err)
  const text = readFileSync(path, "utf8")
  const rows = (JSON.parse(text) as ReadonlyArray<Json>).toSorted((a, b) =>
    String(a["slug"]) < String(b["slug"]) ? -1 : 1
  )
  return { text, rows }
}
const send = async (method: string, path: string, body?: object) => {
  const headers = { authorization: env["WAYPOST_API_KEY"]!, "content-type": "application/json" }
  const response = await fetch(`${service.url}${path}`, { method, headers, body: JSON.stringify(body) ?? null })
  return (await response.json()) as { readonly data: unknown }
}
const list = async (path: string) => (await send("GET", path)).data as ReadonlyArray<Json>
const find = async (slug: string) => (await list(`/v1/posts?filter=slug:equals:${slug}`))[0]!

/** The members that do not depend on the service. */
const portable = (row: Json): Json => Struct.omit(row, ["uuid", "publishedAt", "createdAt", "editedAt"])

const translations = [
  { locale: "de-DE", title: "Frühling", excerpt: "Kurz", body: "<p>Ab März: <em>neu</em></p>" },
  { locale: "nl", title: "Lente" }
]
const past = "2026-01-01T00:00:00.000Z"
const future = "2126-01-01T00:00:00.000Z"

const rows = [
  { slug: "a-draft", type: "page", translations },
  {
    slug: "b-scheduled",
    type: "news",
    status: "scheduled",
    publishAt: future,
    expireAt: "2127-01-01T00:00:00.000Z",
    translations
  },
  {
    slug: "c-published",
    type: "announcement",
    status: "published",
    publishAt: past,
    translations,
    author: "anna",
    audience: { authorizationType: "groups", groups: ["South", "North"], locations: ["L-1"] },
    tags: ["a; b"],
    pinned: true,
    callToAction: { type: "book", url: "https://korenbloem.example/book" }
  },
  {
    slug: "d-archived",
    type: "social",
    status: "archived",
    publishAt: past,
    expireAt: past.replace("01-01", "01-02"),
    translations
  },
  { slug: "e-withdrawn", type: "news", status: "archived", publishAt: past, translations }
]

beforeAll(async () => {
  service = await Served.start()
  env = { WAYPOST_URL: service.url, WAYPOST_API_KEY: service.key }
  await imported([{ name: "Branch", identifier: "L-1" }], "locations")
  await imported([{ username: "anna", email: "anna@x.example", firstName: "Anna" }], "users")
  await imported([{ name: "North" }, { name: "South" }], "groups")
})
afterAll(() => service?.[Symbol.asyncDispose]())

describe("waypost import and export of posts", () => {
  it("exported posts of every status can be imported into an empty service, with authors and audiences by name", async () => {
    const first = await imported(rows)
    assert.strictEqual(first.code, 0, first.refused + first.err)
    assert.include(first.out, "5 created")
    assert.match((await imported(rows)).out, /posts: 5 unchanged/)
    const before = await exported()
    assert.deepStrictEqual(
      before.rows.map(({ slug, status }) => [slug, status]),
      [
        ["a-draft", "draft"],
        ["b-scheduled", "scheduled"],
        ["c-published", "published"],
        ["d-archived", "archived"],
        ["e-withdrawn", "archived"]
      ]
    )
    assert.deepInclude(before.rows[2], {
      author: "anna",
      audience: { authorizationType: "groups", groups: ["North", "South"], locations: ["L-1"] }
    })
    for (const kind of ["users", "locations", "groups"]) {
      for (const { uuid } of await list(`/v1/${kind}`)) assert.notInclude(before.text, String(uuid))
    }
    for (const { uuid } of await list("/v1/posts")) await send("DELETE", `/v1/posts/${String(uuid)}`)
    const { code, refused } = await imported(before.rows)
    assert.strictEqual(code, 0, refused)
    const after = await exported()
    assert.deepStrictEqual(after.rows.map(portable), before.rows.map(portable))
    assert.match((await imported(before.rows)).out, /posts: 5 unchanged/)
  })

  it("a row with an earlier status does not revert a post, and a row with a later status advances it", async () => {
    const post = (rest: Json) => ({ slug: "moves", type: "news", translations, ...rest })
    await imported([post({})])
    const published = await imported([post({ status: "published" })])
    assert.include(published.out, "1 updated", published.refused)
    const { publishAt, status, uuid } = await find("moves")
    assert.strictEqual(status, "published")
    assert.isString(publishAt)
    assert.include((await imported([post({ status: "scheduled", publishAt })])).out, "1 unchanged")
    const changed = await imported([post({ status: "scheduled", publishAt, pinned: true })])
    assert.include(changed.out, "1 updated", changed.refused)
    await send("PATCH", `/v1/posts/${String(uuid)}`, { status: "archived" })
    assert.include((await imported([post({ status: "published", pinned: true })])).out, "1 unchanged")
    const back = await imported([post({ status: "draft" })])
    assert.strictEqual(back.code, 1)
    assert.include(back.refused, "forbiddenMove")
  })

  it("a scheduled row without publishAt keeps that of its draft, and is rejected if there is none; neither is published", async () => {
    const post = (slug: string, rest: Json) => ({ slug, type: "news", translations, ...rest })
    await imported([post("s-draft", { publishAt: future })])
    const { code, out, refused } = await imported([
      post("s-draft", { status: "scheduled" }),
      post("s-new", { status: "scheduled" })
    ])
    assert.strictEqual(code, 1)
    assert.include(out, "1 updated, 1 refused")
    assert.include(refused, '"path":"publishAt","code":"required"')
    const { publishAt, status } = await find("s-draft")
    assert.deepStrictEqual([publishAt, status], [future, "scheduled"])
    assert.lengthOf(await list("/v1/posts?filter=slug:equals:s-new"), 0)
  })

  it("an import rejects a post without a slug, and one with an unknown author or group", async () => {
    const { code, out, refused } = await imported([
      { type: "news", translations },
      { slug: "x-1", type: "news", translations, author: "unknown" },
      { slug: "x-2", type: "news", translations, audience: { groups: ["Nowhere"] } }
    ])
    assert.strictEqual(code, 1)
    assert.include(out, "3 refused")
    assert.include(refused, '"path":"slug","code":"required"')
    assert.include(refused, 'No user has the username \\"unknown\\"')
    assert.include(refused, 'No group has the name \\"Nowhere\\"')
    assert.lengthOf(await list("/v1/posts?filter=slug:startsWith:x-"), 0)
  })

  it("an export of posts takes a filter by the name of an author", async () => {
    assert.strictEqual((await imported(rows.slice(2, 3))).code, 0)
    const exportedBy = async (filter: string) => {
      const { code, err, out } = await waypost(["export", "posts", "-", "--format", "json", "--filter", filter], env)
      assert.strictEqual(code, 0, err)
      return (JSON.parse(out) as ReadonlyArray<Json>).map(({ slug }) => slug)
    }
    assert.include(await exportedBy("author.name:startsWith:Anna"), "c-published")
    assert.deepStrictEqual(await exportedBy("author.name:startsWith:Zoë"), [])
  })

  it("a CSV export or import of posts fails because CSV cannot hold translations, and writes no file", async () => {
    const path = join(service.folder, "posts.csv")
    const written = await waypost(["export", "posts", path], env)
    assert.strictEqual(written.code, 1)
    assert.include(written.err, "CSV file cannot hold the translations of posts; use json or ndjson")
    assert.deepStrictEqual(
      readdirSync(service.folder).filter((name) => name.startsWith("posts.csv")),
      []
    )
    writeFileSync(path, "slug,type\na,news\n")
    const read = await waypost(["import", "posts", path], env)
    assert.strictEqual(read.code, 1)
    assert.include(read.err, "cannot hold the translations of posts")
  })
})
