import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { create } from "../../../support/changes/Feed.ts"
import { createAsset } from "../../../support/requests/AssetRequests.ts"
import {
  apply,
  branches,
  changesOf,
  collection,
  type Fields,
  keyWith,
  listOf,
  plan,
  zero
} from "../../../support/requests/PlanRequests.ts"
import { createPost } from "../../../support/requests/PostRequests.ts"
import { send, unique } from "../../../support/requests/Requests.ts"
import * as TestServer from "../../../support/TestServer.ts"

layer(TestServer.layer(), { excludeTestServices: true })("the filter of a plan and the paths it ignores", (it) => {
  it.effect("an empty filter is rejected", () =>
    Effect.gen(function* () {
      const made = yield* plan("resource=locations&mode=full&filter=", [{ identifier: unique("empty"), name: "A" }])
      assert.deepStrictEqual([made.status, made.body._tag, made.body.code], [400, "InvalidFilterError", "syntax"])
    })
  )

  it.effect.each([
    ["addres.city", "unknownMember", 'Unknown member "addres.city"; did you mean address.city?'],
    [
      "name,openingHours.day",
      "notAllowed",
      '"openingHours.day" is in a list, which is compared as a whole; ignore "openingHours"'
    ]
  ] as const)("rejects the path %s to ignore", ([ignore, code, message]) =>
    Effect.gen(function* () {
      const made = yield* plan(`resource=locations&ignore=${ignore}`, [{ identifier: unique("ignored"), name: "A" }])
      assert.strictEqual(made.status, 400)
      assert.deepInclude(made.body.issues[0], { in: "query", path: "ignore", code, message })
    })
  )

  it.effect(
    "rows of records outside the filter, or without its member, are refused, and only records that it finds are deleted",
    () =>
      Effect.gen(function* () {
        const { id, prefix } = collection()
        yield* branches([
          { identifier: id("nl"), address: { countryCode: "NL" } },
          { identifier: id("nl2"), address: { countryCode: "NL" } },
          { identifier: id("be"), address: { countryCode: "BE" } },
          { identifier: id("none") }
        ])
        const query = `resource=locations&mode=full&maxDeletes=100&filter=identifier:startsWith:${prefix},address.countryCode:equals:NL`
        const { body } = yield* plan(query, [
          { identifier: id("nl"), name: "Renamed" },
          { identifier: id("be"), name: "Renamed" },
          { identifier: id("none"), name: "Renamed" }
        ])
        assert.deepStrictEqual(body.data.counts, { ...zero, update: 1, delete: 1, refused: 2 })
        const refused: ReadonlyArray<{ key: string; issues: ReadonlyArray<{ code: string }> }> = yield* changesOf(
          body.data.uuid,
          "&kind=refused"
        )
        assert.deepStrictEqual(
          refused.map(({ issues, key }) => [key, issues[0]!.code]),
          [
            [id("be"), "outsideFilter"],
            [id("none"), "outsideFilter"]
          ]
        )
        yield* apply(body.data.uuid, { force: true })
        assert.deepStrictEqual(
          (yield* listOf(prefix)).map(({ identifier, name }) => [identifier, name]),
          [
            [id("be"), "Branch"],
            [id("nl"), "Renamed"],
            [id("none"), "Branch"]
          ]
        )
      })
  )

  it.effect("a filter of posts finds what the key sees of them, as a filter of their list does", () =>
    Effect.gen(function* () {
      const users = yield* Effect.forEach(["Anna", "Bert"], (firstName) =>
        Effect.map(
          send("POST", "/v1/users", {
            body: { username: unique("author"), email: `${unique("author")}@example.com`, firstName }
          }),
          ({ body }) => body.data.uuid as string
        )
      )
      const name = unique("Group")
      const group = (yield* send("POST", "/v1/groups", { body: { name } })).body.data.uuid
      const asset = yield* createAsset()
      const prefix = unique("filtered")
      const [ofAnna, ofBert] = yield* Effect.forEach(users, (uuid, index) =>
        createPost({
          slug: `${prefix}-${index}`,
          author: { uuid },
          audience: { groups: index === 0 ? [{ uuid: group }] : [] },
          mediaAssetUuids: [asset]
        })
      )
      yield* send("DELETE", `/v1/assets/${asset}?force=true`)
      const deletes = Effect.fnUntraced(function* (filter: string, key?: string) {
        const query = `filter=slug:startsWith:${prefix},${filter}`
        const { body } = yield* plan(`resource=posts&mode=full&${query}`, [], key)
        const changes = yield* changesOf(body.data.uuid)
        const planned = changes.map(({ uuid }: { readonly uuid: string }) => uuid).toSorted()
        const listed = yield* send("GET", `/v1/posts?${query}`, key === undefined ? {} : { key })
        assert.deepStrictEqual(planned, listed.body.data.map(({ uuid }: { uuid: string }) => uuid).toSorted())
        return planned
      })
      assert.deepStrictEqual(yield* deletes("author.name:equals:Anna"), [ofAnna])
      assert.deepStrictEqual(yield* deletes("author.name:not equals:Anna"), [ofBert])
      assert.deepStrictEqual(yield* deletes(`audience.groups.name:equals:${name}`), [ofAnna])
      assert.deepStrictEqual(yield* deletes(`mediaAssetUuids:equals:${asset}`), [])
      const writer = yield* keyWith("read:posts", "create:posts", "update:posts", "delete:posts")
      assert.deepStrictEqual(yield* deletes(`audience.groups.name:equals:${name}`, writer), [])
      assert.deepStrictEqual(yield* deletes(`audience.groups.uuid:equals:${group}`, writer), [ofAnna])
    })
  )

  it.effect("paths to ignore stay unchanged in existing records, and are written in new ones", () =>
    Effect.gen(function* () {
      const { id, query } = collection()
      yield* branches([{ identifier: id("1"), contact: { phone: "+31301234567" } }])
      const row = { name: "New", contact: { phone: "+31300000000", email: "a@example.com" } }
      const { body } = yield* plan(`${query}&ignore=contact.phone,name`, [
        { identifier: id("1"), ...row },
        { identifier: id("2"), ...row }
      ])
      const [updated, created] = yield* changesOf(body.data.uuid)
      assert.deepStrictEqual(updated.changes, [{ path: "contact.email", after: "a@example.com" }])
      assert.include(
        created.changes.map(({ path }: Fields) => path),
        "contact.phone"
      )
    })
  )

  it.effect("null for an object clears its members except the paths to ignore", () =>
    Effect.gen(function* () {
      const { id, prefix, query } = collection()
      const contact = { phone: "+31301234567", email: "a@example.com" }
      const address = { city: "Utrecht", countryCode: "NL" }
      yield* branches([
        { identifier: id("1"), contact, legal: { address }, invoice: { name: "Bakery", address } },
        { identifier: id("2"), contact: { phone: "+31301234567" } }
      ])
      const ignore = "contact.phone,legal.address.city,invoice.name,invoice.address"
      const { body } = yield* plan(`${query}&ignore=${ignore}`, [
        { identifier: id("1"), name: "New", contact: null, legal: null, invoice: { address: null } },
        { identifier: id("2"), contact: null, invoice: null }
      ])
      assert.deepStrictEqual(body.data.counts, { ...zero, update: 1, unchanged: 1 })
      const [{ changes }] = yield* changesOf(body.data.uuid)
      assert.deepStrictEqual(changes.map(({ path }: Fields) => path).toSorted(), [
        "contact.email",
        "legal.address.countryCode",
        "name"
      ])
      yield* apply(body.data.uuid)
      const [first] = yield* listOf(prefix)
      assert.deepStrictEqual(
        [first!["contact"], first!["legal"], first!["invoice"]],
        [{ phone: "+31301234567" }, { address: { city: "Utrecht" } }, { name: "Bakery", address }]
      )
      const author = {
        uuid: yield* create("users", { username: unique("author"), email: `${unique("a")}@example.com` })
      }
      const slug = unique("ignored")
      yield* createPost({ slug, author })
      const posts = yield* plan("resource=posts&ignore=author.uuid", [{ slug, author: null }])
      assert.deepStrictEqual(posts.body.data.counts, { ...zero, unchanged: 1 })
    })
  )
})
