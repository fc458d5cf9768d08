import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { actionsOnProduct, seesPost, subjectOfLocation, subjectOfUser } from "../../support/access/Model.ts"
import { randomWorld, store } from "../../support/access/World.ts"
import { randomOf } from "../../support/Random.ts"
import { send } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

const sizes = { groups: 6, locations: 12, users: 25, products: 25, posts: 15 }

/** The uuids of a list, sorted; its total is their number. */
const listed = Effect.fnUntraced(function* (path: string) {
  const { body, status, text } = yield* send("GET", `${path}${path.includes("?") ? "&" : "?"}limit=500`)
  assert.strictEqual(status, 200, text)
  const uuids = body.data.map(({ uuid }: { readonly uuid: string }) => uuid)
  assert.strictEqual(body.pagination.total, uuids.length)
  return uuids.toSorted()
})

const uuidsOf = (list: ReadonlyArray<{ readonly uuid: string }>) => list.map(({ uuid }) => uuid).toSorted()

layer(TestServer.layer(), { excludeTestServices: true })("Audiences", (it) => {
  it.effect.each([1, 2, 3, 4])(
    "in random world %i every audience and every reverse list is that of the model",
    (seed) =>
      Effect.gen(function* () {
        const world = randomWorld(randomOf(seed), sizes)
        yield* store(world)
        const { locations, posts, products, users } = world
        let seen = 0
        for (const product of products) {
          const path = `/v1/products/${product.uuid}/audience`
          const expected = users.filter((user) => actionsOnProduct(world, subjectOfUser(user), product).length > 0)
          seen += expected.length
          assert.deepStrictEqual(yield* listed(path), uuidsOf(expected), JSON.stringify(product))
          assert.deepStrictEqual(
            yield* listed(`${path}?of=locations`),
            uuidsOf(locations.filter((one) => actionsOnProduct(world, subjectOfLocation(one), product).length > 0)),
            JSON.stringify(product)
          )
        }
        assert.isAbove(seen, 20)
        for (const post of posts) {
          const path = `/v1/posts/${post.uuid}/audience`
          assert.deepStrictEqual(
            yield* listed(path),
            uuidsOf(users.filter((user) => seesPost(world, subjectOfUser(user), post))),
            JSON.stringify(post)
          )
          assert.deepStrictEqual(
            yield* listed(`${path}?of=locations`),
            uuidsOf(locations.filter((one) => seesPost(world, subjectOfLocation(one), post))),
            JSON.stringify(post)
          )
        }
        for (const user of users) {
          const subject = subjectOfUser(user)
          assert.deepStrictEqual(
            yield* listed(`/v1/users/${user.uuid}/products`),
            uuidsOf(products.filter((product) => actionsOnProduct(world, subject, product).length > 0)),
            JSON.stringify(user)
          )
          assert.deepStrictEqual(
            yield* listed(`/v1/users/${user.uuid}/posts`),
            uuidsOf(posts.filter((post) => seesPost(world, subject, post))),
            JSON.stringify(user)
          )
        }
        for (const location of locations)
          assert.deepStrictEqual(
            yield* listed(`/v1/locations/${location.uuid}/products`),
            uuidsOf(
              products.filter((product) => actionsOnProduct(world, subjectOfLocation(location), product).length > 0)
            ),
            JSON.stringify(location)
          )
      })
  )
})
