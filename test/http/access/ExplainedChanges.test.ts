import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { access, messageOf, reasonOf } from "../../support/access/Explanation.ts"
import { createPost, patchPost, readPost } from "../../support/requests/PostRequests.ts"
import {
  activate,
  createGroup,
  createLocation,
  createProduct,
  createUser,
  createVariant,
  patchProduct
} from "../../support/requests/ProductRequests.ts"
import { send } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"
import { eventually } from "../../support/Until.ts"

const earlier = "2020-01-01T00:00:00.000Z"
const later = "2099-01-01T00:00:00.000Z"

/** Patches with the change that a message names, which must succeed. */
const change = Effect.fnUntraced(function* (path: string, body: Readonly<Record<string, unknown>>) {
  const { status, text } = yield* send("PATCH", path, { body })
  assert.strictEqual(status, 200, text)
})

const becomesPublished = (uuid: string) =>
  eventually("the post is published", readPost(uuid), ({ status }) => status === "published")

layer(TestServer.layer(), { excludeTestServices: true })("Changes that explained access names", (it) => {
  it.effect("a draft post is to be scheduled, and an archived one cannot be published again", () =>
    Effect.gen(function* () {
      const user = yield* createUser()
      const post = yield* createPost({ audience: { authorizationType: "everyone" } })
      const message = Effect.map(access(`user=${user}&post=${post}`), (answer) => messageOf(answer, "postState"))
      assert.match(
        yield* message,
        /has the status draft; set it to scheduled, with a publishAt that is not in the future$/
      )
      yield* change(`/v1/posts/${post}`, { status: "scheduled", publishAt: earlier })
      yield* becomesPublished(post)
      assert.strictEqual((yield* access(`user=${user}&post=${post}`)).decision, "allow")
      yield* change(`/v1/posts/${post}`, { status: "archived" })
      assert.match(yield* message, /has the status archived; it cannot be published again; create another post$/)
    })
  )

  it.effect("a scheduled post is to be published with an earlier publishAt, which it cannot lack", () =>
    Effect.gen(function* () {
      const user = yield* createUser()
      const post = yield* createPost({
        status: "scheduled",
        publishAt: later,
        audience: { authorizationType: "everyone" }
      })
      const denied = yield* access(`user=${user}&post=${post}`)
      assert.match(messageOf(denied, "postState"), /has the status scheduled; set it to published$/)
      assert.match(messageOf(denied, "postDates"), /set publishAt to an earlier time$/)
      assert.strictEqual((yield* patchPost(post, { publishAt: null })).status, 400)
      yield* change(`/v1/posts/${post}`, { status: "published", publishAt: earlier })
      assert.strictEqual((yield* access(`user=${user}&post=${post}`)).decision, "allow")
    })
  )

  it.effect("an archived product is to be a draft before it is published, also as a parent", () =>
    Effect.gen(function* () {
      const user = yield* createUser()
      const parent = yield* createProduct({ type: "variantParent", name: "Poster", status: "archived" })
      yield* activate(parent, "permissions", { authorizationType: "everyone" })
      const variant = yield* createVariant(parent)
      yield* patchProduct(variant, { status: "published" })
      const text = "the product Poster has the status archived; set it to draft, and then to published"
      const own = yield* access(`user=${user}&product=${parent}`)
      assert.strictEqual(messageOf(own, "productState"), text.replace("the", "The"))
      const denied = yield* access(`user=${user}&product=${variant}`)
      assert.strictEqual(messageOf(denied, "inheritance"), `The parent decides as well: ${text}`)
      for (const status of ["draft", "published"]) yield* change(`/v1/products/${parent}`, { status })
      assert.strictEqual((yield* access(`user=${user}&product=${variant}`)).decision, "allow")
    })
  )

  it.effect("the permissions module is to be activated on the parent of a variant", () =>
    Effect.gen(function* () {
      const user = yield* createUser()
      const parent = yield* createProduct({ type: "variantParent", name: "Poster", status: "published" })
      const variant = yield* createVariant(parent, { name: "Poster A3" })
      yield* patchProduct(variant, { status: "published" })
      assert.deepStrictEqual(reasonOf(yield* access(`user=${user}&product=${variant}`), "permissionsModule"), {
        code: "permissionsModule",
        effect: "deny",
        message:
          "The product Poster, whose permissions count, has no permissions module, which means no user; activate the module",
        record: { type: "product", uuid: parent, label: "Poster" },
        path: "modules.permissions"
      })
      yield* activate(parent, "permissions", { authorizationType: "everyone" })
      assert.strictEqual((yield* access(`user=${user}&product=${variant}`)).decision, "allow")
    })
  )

  it.effect("a list of which every group or location is deleted is empty", () =>
    Effect.gen(function* () {
      const user = yield* createUser()
      for (const [list, create] of [
        ["groups", createGroup],
        ["locations", createLocation]
      ] as const) {
        const [deleted, kept] = [yield* create(), yield* create()]
        const product = yield* createProduct({ status: "published" })
        const setting = (uuids: ReadonlyArray<string>) => ({
          authorizationType: list,
          [list]: uuids.map((uuid) => ({ uuid, actions: ["view"] }))
        })
        yield* activate(product, "permissions", setting([deleted]))
        const other = yield* createProduct({ status: "published" })
        yield* activate(other, "permissions", setting([deleted, kept]))
        const post = yield* createPost({ audience: { authorizationType: list, [list]: [{ uuid: deleted }] } })
        yield* send("DELETE", `/v1/${list}/${deleted}`)
        const denied = yield* access(`user=${user}&product=${product}`)
        assert.deepStrictEqual(
          denied.reasons.filter(({ effect }) => effect === "deny").map(({ message }) => message),
          [`The permissions module lists no ${list}, which means no user; add one`]
        )
        assert.strictEqual(
          messageOf(yield* access(`user=${user}&post=${post}`), "audience"),
          `The audience lists no ${list}, which means no user; add one`
        )
        assert.strictEqual(
          messageOf(yield* access(`user=${user}&product=${other}`), "permissionsModule"),
          `The permissions module is for one ${list.slice(0, -1)}`
        )
      }
    })
  )
})
