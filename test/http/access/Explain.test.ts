import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { access, messageOf, reasonOf } from "../../support/access/Explanation.ts"
import { createPost, patchPost } from "../../support/requests/PostRequests.ts"
import {
  activate,
  createGroup,
  createLocation,
  createProduct,
  createUser,
  createVariant,
  patchProduct,
  putModule
} from "../../support/requests/ProductRequests.ts"
import { expectError, problemsOf, send, unique, unknownUuid } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

layer(TestServer.layer(), { excludeTestServices: true })("Explained access", (it) => {
  it.effect("each rule is a reason that names its record, and says what to change until the product is seen", () =>
    Effect.gen(function* () {
      const username = unique("anna")
      const user = yield* createUser({ username, email: `${username}@example.com`, status: "suspended" })
      const product = yield* createProduct({ name: "Window poster", visibleFrom: "2099-01-31T09:30:00.000Z" })
      const asked = access(`user=${user}&product=${product}`)
      const denied = yield* asked
      assert.deepStrictEqual([denied.decision, denied.actions], ["deny", []])
      assert.deepStrictEqual(denied.reasons, [
        {
          code: "userState",
          effect: "deny",
          message: `The user ${username} has the status suspended; set it to active`,
          record: { type: "user", uuid: user, label: username },
          path: "status"
        },
        {
          code: "productState",
          effect: "deny",
          message: "The product Window poster has the status draft; set it to published",
          record: { type: "product", uuid: product, label: "Window poster" },
          path: "status"
        },
        {
          code: "productDates",
          effect: "deny",
          message:
            "The product Window poster begins on 2099-01-31T09:30:00.000Z; set visibleFrom to an earlier time, or to null",
          record: { type: "product", uuid: product, label: "Window poster" },
          path: "visibleFrom"
        },
        {
          code: "permissionsModule",
          effect: "deny",
          message: "The product Window poster has no permissions module, which means no user; activate the module",
          record: { type: "product", uuid: product, label: "Window poster" },
          path: "modules.permissions"
        },
        {
          code: "locationsModule",
          effect: "allow",
          message: "Without a locations module, every location may use the product",
          record: { type: "product", uuid: product, label: "Window poster" },
          path: "modules.locations"
        },
        {
          code: "campaign",
          effect: "allow",
          message: "The product can be ordered at any time, not only during a campaign",
          record: { type: "product", uuid: product, label: "Window poster" },
          path: "modules.campaigns"
        }
      ])

      yield* send("PATCH", `/v1/users/${user}`, { body: { status: "active" } })
      yield* patchProduct(product, { status: "published", visibleFrom: null })
      yield* activate(product, "permissions", {})
      assert.strictEqual(
        messageOf(yield* asked, "permissionsModule"),
        "The permissions module lists no groups, which means no user; add one"
      )
      const name = unique("Displays")
      const group = yield* createGroup({ name })
      yield* putModule(product, "permissions", { groups: [{ uuid: group, actions: ["order"] }] })
      assert.deepStrictEqual(reasonOf(yield* asked, "groups"), {
        code: "groups",
        effect: "deny",
        message: `The user ${username} belongs to none of the one group; add it to one of them: the group ${name}`,
        record: { type: "product", uuid: product, label: "Window poster" },
        path: "modules.permissions.groups"
      })
      yield* send("PUT", `/v1/users/${user}/groups`, { body: { groups: [group] } })
      assert.deepStrictEqual(reasonOf(yield* asked, "groups"), {
        code: "groups",
        effect: "deny",
        message: `The user ${username} belongs to the group ${name}, with the actions order; add the action view`,
        record: { type: "group", uuid: group, label: name },
        path: "users"
      })
      yield* putModule(product, "permissions", { groups: [{ uuid: group, actions: ["view", "order"] }] })
      yield* activate(product, "locations", {})
      assert.strictEqual(
        messageOf(yield* asked, "locationsModule"),
        `The user ${username} has no location, and the product is for locations; add it to one that may use the product`
      )
      const place = unique("Utrecht")
      const location = yield* createLocation({ name: place })
      yield* send("PUT", `/v1/users/${user}/locations`, { body: { locations: [location] } })
      yield* activate(product, "campaigns", { onlyDuringCampaign: true })
      const allowed = yield* asked
      assert.deepStrictEqual([allowed.decision, allowed.actions], ["allow", ["view"]])
      assert.deepStrictEqual(reasonOf(allowed, "locationsModule"), {
        code: "locationsModule",
        effect: "allow",
        message: `The location ${place} may use the product`,
        record: { type: "location", uuid: location, label: place }
      })
      assert.deepStrictEqual(reasonOf(allowed, "campaign"), {
        code: "campaign",
        effect: "deny",
        message:
          "Outside a campaign the product cannot be ordered; activate a campaign, or set onlyDuringCampaign to false",
        record: { type: "product", uuid: product, label: "Window poster" },
        path: "modules.campaigns.onlyDuringCampaign"
      })
      yield* putModule(product, "campaigns", { onlyDuringCampaign: false })
      assert.deepStrictEqual((yield* asked).actions, ["view", "order"])
    })
  )

  it.effect("labels and names of groups and locations appear only to a key that may read them", () =>
    Effect.gen(function* () {
      const [name, place] = [unique("Displays"), unique("Utrecht")]
      const [group, location] = [yield* createGroup({ name }), yield* createLocation({ name: place })]
      const user = yield* createUser({ groups: [group], locations: [location] })
      const product = yield* createProduct()
      yield* activate(product, "permissions", { groups: [{ uuid: group, actions: ["view"] }] })
      yield* activate(product, "locations", {})
      const post = yield* createPost({ audience: { groups: [{ uuid: yield* createGroup({ name: `${name} 2` }) }] } })
      const named = ["read:users", "read:products", "read:posts"] as const
      for (const query of [`user=${user}&product=${product}`, `user=${user}&post=${post}`]) {
        const whole = JSON.stringify(yield* access(query))
        assert.include(whole, name)
        const part = JSON.stringify(yield* access(query, named))
        for (const hidden of [name, place]) assert.notInclude(part, hidden)
      }
      const part = yield* access(`user=${user}&product=${product}`, named)
      assert.deepStrictEqual(reasonOf(part, "groups").record, { type: "group", uuid: group })
      assert.match(messageOf(part, "groups"), /belongs to a group, with the actions view$/)
      assert.strictEqual(messageOf(part, "locationsModule"), "A location may use the product")
      const withGroups = yield* access(`user=${user}&product=${product}`, [...named, "read:groups"])
      assert.deepStrictEqual(reasonOf(withGroups, "groups").record, { type: "group", uuid: group, label: name })
    })
  )

  it.effect("a location is asked about as a branch: its groups, its own entry, and no state of a user", () =>
    Effect.gen(function* () {
      const location = yield* createLocation()
      const product = yield* createProduct()
      yield* patchProduct(product, { status: "published" })
      yield* activate(product, "permissions", {
        authorizationType: "locations",
        locations: [{ uuid: location, actions: ["view", "download"] }]
      })
      const asked = access(`location=${location}&product=${product}`)
      const allowed = yield* asked
      assert.deepStrictEqual([allowed.decision, allowed.actions], ["allow", ["view", "download"]])
      assert.deepStrictEqual(
        allowed.reasons.map(({ code }) => code),
        ["productState", "productDates", "permissionsModule", "locations", "locationsModule", "campaign"]
      )
      assert.match(messageOf(allowed, "locations"), /is listed, with the actions view and download$/)
      yield* activate(product, "locations", { mode: "exclude", locations: [{ uuid: location }] })
      const denied = yield* asked
      assert.strictEqual(denied.decision, "deny")
      assert.match(messageOf(denied, "locationsModule"), /is excluded; remove one from the locations module$/)
    })
  )

  it.effect("a variant has the modules of its parent, and is seen only while the parent is", () =>
    Effect.gen(function* () {
      const user = yield* createUser()
      const parent = yield* createProduct({ type: "variantParent", name: "Poster" })
      yield* activate(parent, "permissions", { authorizationType: "everyone" })
      const variant = yield* createVariant(parent)
      yield* patchProduct(variant, { status: "published" })
      const denied = yield* access(`user=${user}&product=${variant}`)
      assert.strictEqual(denied.decision, "deny")
      assert.deepStrictEqual(denied.reasons.at(-1), {
        code: "inheritance",
        effect: "deny",
        message: "The parent decides as well: the product Poster has the status draft; set it to published",
        record: { type: "product", uuid: parent, label: "Poster" },
        path: "status"
      })
      assert.strictEqual(reasonOf(denied, "permissionsModule").record!.uuid, parent)
      yield* patchProduct(parent, { status: "published" })
      const allowed = yield* access(`user=${user}&product=${variant}`)
      assert.deepStrictEqual(allowed.actions, ["view", "order", "customize", "download", "publish"])
    })
  )

  it.effect("of a post the audience decides, and what can be done with it is to view it", () =>
    Effect.gen(function* () {
      const user = yield* createUser()
      const post = yield* createPost({ status: "scheduled", publishAt: "2099-01-31T09:30:00.000Z" })
      const denied = yield* access(`user=${user}&post=${post}`)
      assert.deepStrictEqual(
        denied.reasons.map(({ code, effect }) => `${code} ${effect}`),
        ["userState allow", "postState deny", "postDates deny", "audience deny"]
      )
      assert.strictEqual(messageOf(denied, "audience"), "The audience lists no groups, which means no user; add one")
      yield* patchPost(post, {
        status: "published",
        publishAt: "2026-01-31T09:30:00.000Z",
        audience: { authorizationType: "everyone" }
      })
      const allowed = yield* access(`user=${user}&post=${post}`)
      assert.deepStrictEqual([allowed.decision, allowed.actions], ["allow", ["view"]])
      assert.strictEqual(messageOf(allowed, "audience"), "The audience is for everyone")
    })
  )

  it.effect("a question names one user or location and one product or post, that exist and that the key may read", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const [user, product] = [yield* createUser(), yield* createProduct()]
      const problems = (query: string) => Effect.map(send("GET", `/v1/access?${query}`), problemsOf)
      const invalid = (problem: string) => [400, "InvalidRequestError", problem]
      assert.deepStrictEqual(yield* problems(`product=${product}`), invalid("user required"))
      assert.deepStrictEqual(yield* problems(`user=${user}`), invalid("product required"))
      const both = `user=${user}&location=${unknownUuid}&product=${product}`
      assert.deepStrictEqual(yield* problems(both), invalid("location notAllowed"))
      for (const [query, tag] of [
        [`user=${unknownUuid}&product=${product}`, "UserNotFoundError"],
        [`location=${unknownUuid}&product=${product}`, "LocationNotFoundError"],
        [`user=${user}&product=${unknownUuid}`, "ProductNotFoundError"],
        [`user=${user}&post=${unknownUuid}`, "PostNotFoundError"]
      ] as const)
        expectError(yield* send("GET", `/v1/access?${query}`), 404, tag)
      for (const [permissions, missing] of [
        [["read:products"], "read:users"],
        [["read:users"], "read:products"],
        [["read:users", "read:posts"], "read:products"]
      ] as const) {
        const rejected = yield* send("GET", `/v1/access?user=${user}&product=${product}`, {
          key: yield* key(permissions)
        })
        assert.include(expectError(rejected, 403, "MissingPermissionsError").missing, missing)
      }
    })
  )
})
