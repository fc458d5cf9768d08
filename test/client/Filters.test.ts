import { assert, describe, it } from "@effect/vitest"
import { where } from "../../src/client/Where.ts"
import { createClient } from "../../src/client/promise/PromiseClient.ts"

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
})
