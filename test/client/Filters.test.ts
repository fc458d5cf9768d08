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
})
