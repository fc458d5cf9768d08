import { assert, describe, it } from "@effect/vitest"
import { Cause } from "effect"
import { where } from "../../src/client/Where.ts"
import { createClient, WaypostError } from "../../src/client/promise/PromiseClient.ts"

const emptyPage = JSON.stringify({ _tag: "Success", data: [], pagination: { limit: 50 } })

/** A client, and the filters that it sends. */
const client = () => {
  const filters: Array<string | null> = []
  const fetch: typeof globalThis.fetch = (input) => {
    filters.push(new URL(input instanceof Request ? input.url : input).searchParams.get("filter"))
    return Promise.resolve(new Response(emptyPage))
  }
  return { ...createClient({ url: "http://waypost.test", fetch }), filters }
}

describe("filters of the typed clients", () => {
  it("`in` takes several words of an enumeration, and both values of a boolean", async () => {
    const { filters, posts, products } = client()
    await products.list({ filter: { status: { in: ["draft", "published"], not: { in: ["archived", "draft"] } } } })
    await posts.list({ filter: { pinned: { in: [true, false] }, type: "news" } })
    // @ts-expect-error no product has this status
    await products.list({ filter: { status: { in: ["draft", "sold"] } } })
    // @ts-expect-error a boolean is no text
    await posts.list({ filter: { pinned: { contains: "t" } } })
    assert.deepStrictEqual(filters, [
      'status:in:("draft"|"published"),status:not in:("archived"|"draft")',
      'pinned:in:("true"|"false"),type:equals:"news"',
      'status:in:("draft"|"sold")',
      'pinned:contains:"t"'
    ])
  })

  it("a filter of the Effect client takes several words of an enumeration", () => {
    assert.deepStrictEqual(where<"users">({ status: { in: ["pending", "active"] } }), [
      { field: "status", operator: "in", value: ["pending", "active"] }
    ])
    // @ts-expect-error no user has this role
    assert.lengthOf(where<"users">({ role: { in: ["ROLE_USER", "ROLE_NONE"] } }), 1)
  })

  it("a filter asks whether an object or a list exists, and nothing else of it", async () => {
    const { filters, locations, products } = client()
    await locations.list({ filter: { coordinates: { exists: false }, media: { not: { exists: true } } } })
    await products.list({ filter: { modules: { exists: true }, "modules.module": "price", tags: { exists: true } } })
    // @ts-expect-error an object has no value
    await locations.list({ filter: { coordinates: "52.09" } })
    // @ts-expect-error an object has no text
    await locations.list({ filter: { coordinates: { contains: "52" } } })
    assert.deepStrictEqual(filters.slice(0, 2), [
      'coordinates:exists:"false",media:not exists:"true"',
      'modules:exists:"true",modules.module:equals:"price",tags:exists:"true"'
    ])
  })

  it("a filter has no members that the service answers and does not compare", async () => {
    const { access, assets, filters, groups, locations, metaTags, products, webhooks } = client()
    // @ts-expect-error distances are no part of the record
    await locations.list({ filter: { distanceMetres: { lt: 5 } } })
    // @ts-expect-error nor are counts of others
    await locations.list({ filter: { userCount: 1 } })
    // @ts-expect-error nor are included records
    await locations.list({ filter: { "users.email": "a@example.com" } })
    // @ts-expect-error nor are variants
    await products.list({ filter: { "variants.name": "a" } })
    // @ts-expect-error addresses are signed
    await assets.list({ filter: { "urls.original": "a" } })
    // @ts-expect-error in lists too
    await locations.list({ filter: { "media.items.urls.original": "a" } })
    // @ts-expect-error so is that of a thumbnail
    await products.list({ filter: { thumbnailUrl: "a" } })
    // @ts-expect-error and so is a cursor
    await webhooks.list({ filter: { resumeCursor: "a" } })
    // @ts-expect-error a default value can be text or a number
    await metaTags.list({ filter: { defaultValue: "a" } })
    // A group has counts of its own, and an audience is filtered by the members of its records.
    await groups.list({ filter: { userCount: { gt: 5 } } })
    await access.listProductAudience("0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30", { filter: { email: { endsWith: ".nl" } } })
    assert.deepStrictEqual(filters.slice(-2), ['userCount:gt:"5"', 'email:endsWith:".nl"'])
  })

  it("a condition whose value is undefined is an error that names it, and nothing is read", async () => {
    const { filters, locations, users } = client()
    const username: string | undefined = undefined
    // @ts-expect-error the type of a condition has no undefined
    const all = () => locations.all({ filter: { name: username } }).toArray()
    const errors = [
      // @ts-expect-error the type of a condition has no undefined
      (await users.list({ filter: { username, status: "active" } }).result()).error,
      // @ts-expect-error nor has that of an operator
      (await locations.list({ filter: { "address.city": { contains: username } } }).result()).error,
      // @ts-expect-error nor has that of a negated one
      (await locations.list({ filter: { name: { exists: true, not: { equals: username } } } }).result()).error,
      await all().catch((error: unknown) => error)
    ]
    assert.deepStrictEqual(
      errors.map((error) => (error instanceof WaypostError ? [error._tag, error.message.split(":")[0]] : error)),
      ["username", "address.city.contains", "name.not.equals", "name"].map((path) => [
        "InvalidArgumentError",
        `filter.${path} is undefined`
      ])
    )
    // A list can have one that the compiler does not see, and JavaScript has no types.
    const untyped = [{ name: { in: ["a", undefined] } }, { name: { not: { in: [undefined] } } }, { name: null }]
    const others = untyped.map((filter: object) => locations.list({ filter }).result())
    assert.deepStrictEqual(
      (await Promise.all(others)).map(({ error }) => error?.message.split(":")[0]),
      ["filter.name.in.1 is undefined", "filter.name.not.in.0 is undefined", "filter.name is null"]
    )
    // @ts-expect-error the type of a condition has no undefined
    const conditions = () => where<"users">({ username })
    assert.throws(conditions, Cause.IllegalArgumentError, "filter.username is undefined")
    assert.deepStrictEqual(filters, [])
  })

  it("a Date for another parameter than the filter is sent as the text of the API", async () => {
    const urls: Array<string> = []
    const fetch: typeof globalThis.fetch = (input) => {
      urls.push(input instanceof Request ? input.url : String(input))
      return Promise.resolve(new Response('{"_tag":"Success","data":{}}'))
    }
    const { locations } = createClient({ url: "http://waypost.test", fetch })
    // @ts-expect-error the type has text only, which plain JavaScript does not see
    await locations.get("0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30", { at: new Date(0) })
    assert.strictEqual(new URL(urls[0]!).searchParams.get("at"), "1970-01-01T00:00:00.000Z")
  })
})
