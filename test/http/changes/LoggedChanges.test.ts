import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import { createAsset, createCategory, createMetaTag, fileRow } from "../../support/requests/AssetRequests.ts"
import { eventsAfter, eventsOf, shown } from "../../support/requests/LogRequests.ts"
import { createPost, patchPost } from "../../support/requests/PostRequests.ts"
import * as Products from "../../support/requests/ProductRequests.ts"
import { send, unique } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"
import { eventually } from "../../support/Until.ts"

const done = Effect.fnUntraced(function* (method: string, path: string, body?: unknown) {
  const answer = yield* send(method, path, body === undefined ? {} : { body })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
  return answer.body.data
})

/** What a write logs. */
const logged = (method: string, path: string, body?: unknown) =>
  Effect.map(eventsOf(done(method, path, body)), ({ events }) => shown(events))

/** Deletes a record of a table, and another one by a request that begins before the first deletion is committed. */
const deletedAtOnce = Effect.fnUntraced(function* (table: string, uuid: string, path: string) {
  const { pooled } = yield* Sql
  const [isDeleted, isMet] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const first = yield* Effect.forkChild(
    pooled.withTransaction(
      Effect.gen(function* () {
        yield* pooled`delete from ${pooled(table)} where uuid = ${uuid}::uuid`
        yield* Deferred.succeed(isDeleted, undefined)
        yield* Deferred.await(isMet)
      })
    )
  )
  yield* Deferred.await(isDeleted)
  const second = yield* Effect.forkChild(done("DELETE", path))
  const waiting = pooled<{ readonly waits: boolean }>`
    select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock') as waits`
  yield* eventually(
    "the second deletion has ended, or waits for the first",
    waiting,
    ([row]) => row!.waits || second.pollUnsafe() !== undefined
  )
  yield* Deferred.succeed(isMet, undefined)
  yield* Fiber.join(first)
  yield* Fiber.join(second)
})

layer(TestServer.layer(), { excludeTestServices: true })("logged changes", (it) => {
  it.effect(
    "creation, update and deletion log the members that differ, with the label, the actor and the request",
    () =>
      Effect.gen(function* () {
        const identifier = unique("branch")
        const { events: made, value } = yield* eventsOf(
          send("POST", "/v1/locations", {
            body: { name: "Bakery", identifier, address: { city: "Utrecht" }, postalCodes: [] },
            headers: { "x-request-id": "0192e4a0-0000-7000-8000-000000000001" }
          })
        )
        const { uuid } = value.body.data
        assert.deepStrictEqual(shown(made), [
          {
            type: "location.created",
            uuid,
            changes: {
              "address.city": { after: "Utrecht" },
              identifier: { after: identifier },
              name: { after: "Bakery" }
            }
          }
        ])
        const [{ actor, record }] = made as [(typeof made)[0]]
        assert.deepInclude(record, { type: "location", label: "Bakery" })
        assert.deepInclude(actor, { type: "apiKey", name: "Test", requestId: value.headers.get("x-request-id")! })
        assert.deepStrictEqual(
          yield* logged("PATCH", `/v1/locations/${uuid}`, {
            address: { city: "Zeist", zipcode: "3700 AA" },
            contact: { phone: "+31301234567" }
          }),
          [
            {
              type: "location.updated",
              uuid,
              changes: {
                "address.city": { before: "Utrecht", after: "Zeist" },
                "address.zipcode": { after: "3700 AA" },
                "contact.phone": { after: "+31301234567" }
              }
            }
          ]
        )
        assert.deepStrictEqual(yield* logged("PATCH", `/v1/locations/${uuid}`, { contact: { phone: null } }), [
          { type: "location.updated", uuid, changes: { "contact.phone": { before: "+31301234567" } } }
        ])
        const { events: gone } = yield* eventsOf(done("DELETE", `/v1/locations/${uuid}`))
        assert.deepStrictEqual(shown(gone), [
          {
            type: "location.deleted",
            uuid,
            changes: {
              "address.city": { before: "Zeist" },
              "address.zipcode": { before: "3700 AA" },
              identifier: { before: identifier },
              name: { before: "Bakery" }
            }
          }
        ])
        assert.strictEqual(gone[0]?.record.label, "Bakery")
      })
  )

  it.effect("a write that changes nothing, a login, a rejected write and a failed transaction log nothing", () =>
    Effect.gen(function* () {
      const location = yield* Products.createLocation({
        name: "Bakery",
        contact: { phone: "+3130" },
        postalCodes: ["1234 AB"]
      })
      const user = yield* Products.createUser()
      const group = yield* Products.createGroup()
      yield* done("PUT", `/v1/users/${user}/groups`, { groups: [group] })
      const { events } = yield* eventsOf(
        Effect.gen(function* () {
          yield* done("PATCH", `/v1/locations/${location}`, {
            name: "Bakery",
            contact: { phone: "+3130" },
            postalCodes: ["1234 AB"]
          })
          yield* done("PATCH", `/v1/locations/${location}`, {})
          yield* done("PUT", `/v1/users/${user}/groups`, { groups: [group] })
          yield* done("POST", `/v1/users/${user}/logins`, {})
          const identifier = unique("taken")
          const taken = yield* Products.createLocation({ identifier })
          yield* done("DELETE", `/v1/locations/${taken}`)
          yield* send("PATCH", `/v1/locations/${location}`, { body: { name: "" } })
          yield* send("PATCH", `/v1/locations/${location}`, { body: { name: "Other" }, headers: { "if-match": '"1"' } })
          // The user is inserted before the e-mail address is found to be taken.
          yield* send("POST", "/v1/users", {
            body: { username: unique("u"), email: `${unique("e")}@example.com`, groups: [user] }
          })
        })
      )
      assert.deepStrictEqual(
        events.map(({ type }) => type),
        ["location.created", "location.deleted"]
      )
    })
  )

  it.effect("initial relations are in the creation, and a deletion has the relations that go with the record", () =>
    Effect.gen(function* () {
      const [location, group] = [yield* Products.createLocation(), yield* Products.createGroup()]
      const made = yield* eventsOf(Products.createUser({ locations: [location], groups: [group] }))
      const user = made.value
      assert.deepStrictEqual(
        made.events.map(({ type }) => type),
        ["user.created"]
      )
      assert.deepInclude(shown(made.events)[0]!.changes, {
        groups: { added: [group], removed: [] },
        locations: { added: [location], removed: [] }
      })
      const [deleted, ...others] = yield* logged("DELETE", `/v1/groups/${group}`)
      assert.deepStrictEqual(others, [])
      assert.deepInclude(deleted, { type: "group.deleted", uuid: group })
      assert.deepStrictEqual(deleted!.changes["users"], { added: [], removed: [user] })
      // Found from the other side too.
      const { events } = yield* eventsAfter("", `&record=${user}`)
      assert.deepStrictEqual(
        events.map(({ type }) => type),
        ["user.created", "group.deleted"]
      )
    })
  )

  it.effect("replacing relations is one update of the record in the path, with what was added and removed", () =>
    Effect.gen(function* () {
      const [a, b, c] = [
        yield* Products.createLocation(),
        yield* Products.createLocation(),
        yield* Products.createLocation()
      ]
      const group = yield* Products.createGroup()
      assert.deepStrictEqual(yield* logged("PUT", `/v1/groups/${group}/locations`, { locations: [a, b] }), [
        { type: "group.updated", uuid: group, changes: { locations: { added: [a, b].toSorted(), removed: [] } } }
      ])
      assert.deepStrictEqual(yield* logged("PUT", `/v1/groups/${group}/locations`, { locations: [b, c] }), [
        { type: "group.updated", uuid: group, changes: { locations: { added: [c], removed: [a] } } }
      ])
      assert.deepStrictEqual(yield* logged("PUT", `/v1/locations/${b}/groups`, { groups: [] }), [
        { type: "location.updated", uuid: b, changes: { groups: { added: [], removed: [group] } } }
      ])
    })
  )

  it.effect("media and labels of a location are its members, and the media go when their asset goes", () =>
    Effect.gen(function* () {
      const [location, asset] = [yield* Products.createLocation(), yield* createAsset({}, "logo.png")]
      const fileUuid = yield* fileRow("menu.pdf", 1, "application/pdf")
      const [put] = yield* logged("PUT", `/v1/locations/${location}/media`, {
        logo: { assetUuid: asset },
        items: [{ fileUuid, role: "menu" }]
      })
      const { media } = (yield* send("GET", `/v1/locations/${location}`)).body.data
      const { urls, ...item } = media.items[0]
      assert.isObject(urls)
      assert.deepStrictEqual(put!.changes["media.items"]!.after, [item])
      const [labels] = yield* logged("PUT", `/v1/locations/${location}/translation-labels`, {
        translationLabels: [{ locale: "en", key: "extraDna1", label: "Opening hours" }]
      })
      assert.deepStrictEqual(Object.keys(labels!.changes), ["translationLabels"])
      const gone = yield* logged("DELETE", `/v1/assets/${asset}?force=true`)
      assert.sameMembers(
        gone.map(({ type, uuid }) => `${type} ${uuid}`),
        [`location.updated ${location}`, `asset.deleted ${asset}`]
      )
      const updated = gone.find(({ uuid }) => uuid === location)!
      for (const [path, { before }] of Object.entries(put!.changes)
        .filter(([path]) => path.startsWith("media.logo"))
        .map(([path, { after }]) => [path, { before: after }] as const)) {
        assert.deepStrictEqual(updated.changes[path], { before })
      }
    })
  )

  it.effect(
    "meta tags and categories are leaves of the asset, also when the definition or the category is deleted",
    () =>
      Effect.gen(function* () {
        const [category, tag] = [unique("summer"), unique("color").replace("-", "_")]
        const categoryUuid = yield* createCategory({ key: category })
        const tagUuid = yield* createMetaTag({ key: tag, type: "text" })
        const made = yield* eventsOf(createAsset({ categories: [category], metaTags: [{ key: tag, value: "red" }] }))
        const asset = made.value
        assert.deepInclude(shown(made.events)[0]!.changes, {
          categories: { after: [category] },
          [`metaTags.${tag}`]: { after: "red" }
        })
        assert.deepStrictEqual(
          yield* logged("PATCH", `/v1/assets/${asset}/meta-tags`, { metaTags: [{ key: tag, value: "blue" }] }),
          [{ type: "asset.updated", uuid: asset, changes: { [`metaTags.${tag}`]: { before: "red", after: "blue" } } }]
        )
        const fileUuid = yield* fileRow("new.txt")
        const [moved] = yield* logged("PATCH", `/v1/assets/${asset}`, { fileUuid })
        assert.strictEqual(moved!.changes["fileUuid"]!.after, fileUuid)
        assert.sameDeepMembers(
          (yield* logged("DELETE", `/v1/meta-tags/${tagUuid}`)).map(({ changes, type }) => [
            type,
            changes[`metaTags.${tag}`]
          ]),
          [
            ["asset.updated", { before: "blue" }],
            ["metaTag.deleted", undefined]
          ]
        )
        assert.sameDeepMembers(
          (yield* logged("DELETE", `/v1/asset-categories/${categoryUuid}`)).map(({ changes, type }) => [
            type,
            changes["categories"]
          ]),
          [
            ["asset.updated", { before: [category] }],
            ["assetCategory.deleted", undefined]
          ]
        )
      })
  )

  it.effect("each of two categories that are deleted at once logs what the other leaves of an asset", () =>
    Effect.gen(function* () {
      const [a, b] = [unique("a"), unique("b")]
      const [one, other] = [yield* createCategory({ key: a }), yield* createCategory({ key: b })]
      const asset = yield* createAsset({ categories: [a, b] })
      const { events } = yield* eventsOf(deletedAtOnce("asset_categories", one, `/v1/asset-categories/${other}`))
      assert.deepStrictEqual(
        shown(events)
          .filter(({ uuid }) => uuid === asset)
          .map(({ changes }) => changes["categories"]),
        [{ before: [a, b], after: [b] }, { before: [b] }]
      )
    })
  )

  it.effect("each of two assets that are deleted at once logs what the other leaves of the media of a location", () =>
    Effect.gen(function* () {
      const location = yield* Products.createLocation()
      const [one, other] = [yield* createAsset({}, "one.png"), yield* createAsset({}, "other.png")]
      yield* done("PUT", `/v1/locations/${location}/media`, {
        items: [one, other].map((assetUuid) => ({ assetUuid, role: "interior" }))
      })
      const { events } = yield* eventsOf(deletedAtOnce("assets", one, `/v1/assets/${other}?force=true`))
      const assetsOf = (items: unknown) =>
        ((items ?? []) as ReadonlyArray<{ readonly assetUuid: string }>).map(({ assetUuid }) => assetUuid)
      assert.deepStrictEqual(
        shown(events)
          .filter(({ uuid }) => uuid === location)
          .map(({ changes }) => changes["media.items"]!)
          .map(({ after, before }) => [assetsOf(before), assetsOf(after)]),
        [
          [[one, other], [other]],
          [[other], []]
        ]
      )
    })
  )

  it.effect("a module is a member of its product, with its calls, and a reservation logs nothing", () =>
    Effect.gen(function* () {
      const product = yield* Products.createProduct()
      const [location] = [yield* Products.createLocation()]
      const on = yield* logged("PUT", `/v1/products/${product}/modules/price`, { model: "fixed", amountMinor: 250 })
      assert.deepInclude(on[0], { type: "product.updated", uuid: product })
      assert.deepInclude(on[0]!.changes, {
        "modules.price.amountMinor": { after: 250 },
        "modules.price.model": { after: "fixed" }
      })
      const changed = yield* logged("PUT", `/v1/products/${product}/modules/price`, {
        model: "fixed",
        amountMinor: 300
      })
      assert.deepStrictEqual(changed, [
        {
          type: "product.updated",
          uuid: product,
          changes: { "modules.price.amountMinor": { before: 250, after: 300 } }
        }
      ])
      assert.deepStrictEqual(
        yield* logged("PUT", `/v1/products/${product}/modules/price`, { model: "fixed", amountMinor: 300 }),
        []
      )
      const off = yield* logged("DELETE", `/v1/products/${product}/modules/price`)
      assert.deepStrictEqual(off[0]!.changes["modules.price.amountMinor"], { before: 300 })
      yield* Products.activate(product, "reservations", {})
      const reserved = yield* eventsOf(Products.reserve(product, Products.reservationOf(location, 24, 72)))
      assert.strictEqual(reserved.value.status, 201, reserved.value.text)
      assert.deepStrictEqual(reserved.events, [])
    })
  )

  it.effect("variants, posts, definitions and categories log what they are", () =>
    Effect.gen(function* () {
      const parent = yield* Products.createProduct({ type: "variantParent" })
      yield* Products.activate(parent, "variants", Products.minimalSettings["variants"]!)
      const variant = yield* eventsOf(
        Products.createVariant(parent, { optionValues: [{ option: "size", value: "a1" }] })
      )
      assert.deepInclude(shown(variant.events)[0], { type: "product.created", uuid: variant.value })
      const user = yield* Products.createUser({ firstName: "Ada", lastName: "Lovelace" })
      const post = yield* createPost({ author: { uuid: user, name: "Ada Lovelace" } })
      const { events } = yield* eventsOf(
        patchPost(post, { translations: [{ locale: "en", title: "Renamed" }], tags: ["a"] })
      )
      assert.strictEqual(events[0]!.record.label, "Renamed")
      assert.sameMembers(
        events[0]!.changes.map(({ path }) => path),
        ["translations", "tags"]
      )
      assert.notInclude(JSON.stringify((yield* eventsAfter("", `&record=${post}`)).events), "Lovelace")
      const category = yield* createCategory({ key: unique("c") })
      const renamed = yield* logged("PATCH", `/v1/asset-categories/${category}`, { position: 7 })
      assert.deepStrictEqual(renamed[0]!.changes, { position: { before: 0, after: 7 } })
    })
  )

  it.effect("the label of an asset is its name in the default locale", () =>
    Effect.gen(function* () {
      const labels = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.map(eventsOf(effect), ({ events }) => events.map(({ record }) => record.label))
      const { events, value: uuid } = yield* eventsOf(
        createAsset({
          translations: [
            { locale: "de", name: "Frühling" },
            { locale: "en", name: "Spring" }
          ]
        })
      )
      assert.deepStrictEqual(
        events.map(({ record }) => record.label),
        ["Spring"]
      )
      const named = (locale: string, name: string | null) =>
        labels(done("PATCH", `/v1/assets/${uuid}`, { translations: [{ locale, name }] }))
      assert.deepStrictEqual(yield* named("de", "Sommer"), ["Spring"])
      assert.deepStrictEqual(yield* named("en", "Summer"), ["Summer"])
      // An event without the translations, and none before it.
      const { pooled } = yield* Sql
      yield* pooled`delete from events where record_uuid = ${uuid}::uuid`
      assert.deepStrictEqual(
        yield* labels(done("PATCH", `/v1/assets/${uuid}`, { validFrom: "2030-01-01T00:00:00.000Z" })),
        ["Summer"]
      )
      assert.deepStrictEqual(yield* named("en", null), ["Sommer"])
      assert.deepStrictEqual(yield* labels(done("DELETE", `/v1/assets/${uuid}`)), ["Sommer"])
    })
  )

  it.effect("of a record that a transaction renames and alters, the label of later events is the new one", () =>
    Effect.gen(function* () {
      const location = yield* Products.createLocation({ name: "Old" })
      const { events } = yield* eventsOf(
        Effect.andThen(
          done("PATCH", `/v1/locations/${location}`, { name: "New" }),
          done("PATCH", `/v1/locations/${location}`, { locale: "nl" })
        )
      )
      assert.deepStrictEqual(
        events.map(({ record }) => record.label),
        ["New", "New"]
      )
    })
  )

  it.effect("keys log their creation, rotation and revocation, with the keys they created and without secrets", () =>
    Effect.gen(function* () {
      const { uuid } = yield* done("POST", "/v1/api-keys", {
        name: "ERP",
        permissions: ["create:api-keys", "read:locations"]
      })
      const rotated = yield* eventsOf(done("POST", `/v1/api-keys/${uuid}/rotate`, {}))
      assert.sameDeepMembers(
        rotated.events.map(({ record, type }) => [type, record.uuid, record.label]),
        [
          ["apiKey.created", rotated.value.uuid, "ERP"],
          ["apiKey.updated", uuid, "ERP"]
        ]
      )
      const child = yield* send("POST", "/v1/api-keys", {
        body: { name: "Child", permissions: ["read:locations"] },
        key: rotated.value.key
      })
      const { events } = yield* eventsOf(done("DELETE", `/v1/api-keys/${rotated.value.uuid}?descendants=true`))
      assert.sameMembers(
        events.map(({ record, type }) => `${type} ${record.uuid}`),
        [`apiKey.deleted ${rotated.value.uuid}`, `apiKey.deleted ${child.body.data.uuid}`]
      )
      assert.deepStrictEqual((yield* eventsOf(done("DELETE", `/v1/api-keys/${rotated.value.uuid}`))).events, [])
      const all = yield* eventsAfter("", "&types=apiKey.*")
      assert.notMatch(JSON.stringify(all.events), /secret|"id":"(?![0-9a-f-]{36}")|wp_\w{22}_/i)
    })
  )

  it.effect("occurredAt strictly increases within a record, whatever the clock says", () =>
    Effect.gen(function* () {
      const location = yield* Products.createLocation()
      yield* Effect.forEach(
        Array.from({ length: 60 }, (_, index) => index),
        (index) => done("PATCH", `/v1/locations/${location}`, { name: `Name ${index}` }),
        { concurrency: 10 }
      )
      const { events } = yield* eventsAfter("", `&record=${location}`)
      assert.lengthOf(events, 61)
      const times = events.map(({ occurredAt }) => occurredAt)
      assert.deepStrictEqual(times, [...new Set(times)].toSorted())
    })
  )
})
