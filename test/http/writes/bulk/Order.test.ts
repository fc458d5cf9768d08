import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { bulk, create, outcomesOf, update, upsert, uuidsOf } from "../../../support/requests/BulkRequests.ts"
import { eventsOf } from "../../../support/requests/LogRequests.ts"
import { createAsset, createCategory } from "../../../support/requests/AssetRequests.ts"
import { createGroup } from "../../../support/requests/ProductRequests.ts"
import { send, unique, unknownUuids } from "../../../support/requests/Requests.ts"
import * as TestServer from "../../../support/TestServer.ts"

layer(TestServer.layer(), { excludeTestServices: true })("the order of writes", (it) => {
  describe("the operations of a bulk request", () => {
    it.effect("break the rules that they break after the operations before them, and before those after them", () =>
      Effect.gen(function* () {
        const [username, email] = [unique("user"), `${unique("user")}@example.com`]
        yield* bulk("users", [create({ username: unique("user"), email })])
        const answer = yield* bulk("users", [
          // Breaks the rule of the address alone: the next operation takes the name.
          create({ username, email }),
          create({ username, email: `${username}@example.com` }),
          create({ username: username.toUpperCase(), email })
        ])
        assert.deepStrictEqual(outcomesOf(answer), ["409 EmailNotUniqueError", "201", "409 UsernameNotUniqueError"])
      })
    )

    it.effect(
      "that upsert a key patch the record that an operation before them created, also with its case changed",
      () =>
        Effect.gen(function* () {
          for (const [name, other] of [
            [unique("Name"), unique("Name")],
            [`ΣΑΣ ${unique("Name")}`, `σασ ${unique("Name")}`]
          ]) {
            const answer = yield* bulk("groups", [
              create({ name }),
              upsert(name!.toLowerCase(), { description: "Patched" }),
              upsert(other!, { name: other, description: "Created" }),
              upsert(other!.toUpperCase(), { externalId: unique("external") })
            ])
            assert.deepStrictEqual(outcomesOf(answer), ["201", "200", "201", "200"])
            const [first, second, third, fourth] = uuidsOf(answer)
            assert.deepStrictEqual([second, fourth], [first, third])
          }
          const identifier = unique("patched")
          // As a creation it would need a name.
          const patch = upsert(identifier, { contact: { phone: "+31 30 123 45 67" } })
          const locations = yield* bulk("locations", [create({ name: "Branch", identifier }), patch])
          assert.deepStrictEqual(outcomesOf(locations), ["201", "200"])
        })
    )

    it.effect("the operations of a bulk request can exchange the identifiers of records", () =>
      Effect.gen(function* () {
        const [one, two, other] = [unique("swap"), unique("swap"), unique("swap")]
        const made = yield* bulk(
          "locations",
          [one, two].map((identifier) => create({ name: "Branch", identifier }))
        )
        const [first, second] = uuidsOf(made) as [string, string]
        const answer = yield* bulk("locations", [
          update(first, { identifier: two }),
          update(first, { identifier: other }),
          update(second, { identifier: one }),
          update(first, { identifier: two }),
          upsert(one, { name: "Second" })
        ])
        assert.deepStrictEqual(outcomesOf(answer), ["400 DuplicateIdentifierError", "200", "200", "200", "200"])
        assert.strictEqual(uuidsOf(answer)[4], second)
      })
    )

    it.effect("list the records that they create in their order, however each is written", () =>
      Effect.gen(function* () {
        const title = unique("Ordered")
        const operations = Array.from({ length: 40 }, (_, index) =>
          create({
            type: "news",
            translations: [{ locale: "en", title }],
            // A post whose slug is made of its title is written by itself.
            ...(index % 3 === 0 ? {} : { slug: unique("ordered") })
          })
        )
        const uuids = uuidsOf(yield* bulk("posts", operations))
        const { body } = yield* send("GET", "/v1/posts?limit=40&sortBy=createdAt&sortOrder=asc")
        assert.deepStrictEqual(
          body.data.map(({ uuid }: { readonly uuid: string }) => uuid),
          uuids
        )
      })
    )

    it.effect("operations have every issue of their data if the key of an upsert is invalid too", () =>
      Effect.gen(function* () {
        const answer = yield* bulk("groups", [
          upsert(" ", { description: 1 }),
          upsert("a", { name: 1, description: 1 })
        ])
        assert.deepStrictEqual(outcomesOf(answer), [
          "400 InvalidRequestError name tooShort description wrongType",
          "400 InvalidRequestError name wrongType description wrongType"
        ])
      })
    )
  })

  describe("a single write", () => {
    it.effect("reports the members that do not exist in the order of the request", () =>
      Effect.gen(function* () {
        const users = [unknownUuids[2]!, unknownUuids[0]!, unknownUuids[1]!]
        const answer = yield* send("PATCH", `/v1/groups/${yield* createGroup()}`, { body: { users } })
        assert.deepStrictEqual(answer.body.uuids, users)
      })
    )

    it.effect("that deletes a category is the client's change of the assets in it as well", () =>
      Effect.gen(function* () {
        const key = unique("category")
        const category = yield* createCategory({ key })
        const asset = yield* createAsset({ categories: [key] })
        const { events } = yield* eventsOf(send("DELETE", `/v1/asset-categories/${category}`))
        assert.deepStrictEqual(
          events.map(({ actor, record, type }) => [type, record.uuid, actor.type]),
          [
            ["asset.updated", asset, "apiKey"],
            ["assetCategory.deleted", category, "apiKey"]
          ]
        )
      })
    )
  })
})
