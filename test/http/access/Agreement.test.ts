import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  actionsOnProduct,
  type Action,
  type Rule,
  rulesOfPost,
  rulesOfProduct,
  seesPost,
  subjectOfLocation,
  subjectOfUser
} from "../../support/access/Model.ts"
import { randomWorld, store } from "../../support/access/World.ts"
import { randomOf } from "../../support/Random.ts"
import { send } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

const sizes = { groups: 5, locations: 5, users: 8, products: 16, posts: 5 }

interface Reason {
  readonly code: string
  readonly effect: string
}

const ruleOf = ({ code, effect }: Reason): Rule => [code, effect === "allow"]

const explained = Effect.fnUntraced(function* (query: string) {
  const { body, status, text } = yield* send("GET", `/v1/access?${query}`)
  assert.strictEqual(status, 200, text)
  const { actions, decision, reasons } = body.data
  const rules: ReadonlyArray<Rule> = reasons.map(ruleOf)
  return { decision: String(decision), actions: actions as ReadonlyArray<Action>, rules }
})

const listed = Effect.fnUntraced(function* (path: string) {
  const { body } = yield* send("GET", `${path}?limit=500`)
  return new Set<string>(body.data.map(({ uuid }: { readonly uuid: string }) => uuid))
})

layer(TestServer.layer(), { excludeTestServices: true })("Access", (it) => {
  it.effect.each([12, 13, 15])(
    "in random world %i the decision, the actions and every rule are those of the model and of the lists",
    (seed) =>
      Effect.gen(function* () {
        const world = randomWorld(randomOf(seed), sizes)
        yield* store(world)
        const { locations, posts, products, users } = world
        const subjects = [
          ...users.map((user) => ({ name: "user", uuid: user.uuid, subject: subjectOfUser(user) })),
          ...locations.map((location) => ({
            name: "location",
            uuid: location.uuid,
            subject: subjectOfLocation(location)
          }))
        ]
        let allowed = 0
        let limited = 0
        for (const { name, subject, uuid } of subjects) {
          const seenProducts = yield* listed(`/v1/${name}s/${uuid}/products`)
          for (const product of products) {
            const actions = actionsOnProduct(world, subject, product)
            const rules = rulesOfProduct(world, subject, product)
            const expected = { decision: actions.length > 0 ? "allow" : "deny", actions, rules }
            const question = `${name}=${uuid}&product=${product.uuid}`
            assert.deepStrictEqual(yield* explained(question), expected, `${question} ${JSON.stringify(product)}`)
            assert.strictEqual(seenProducts.has(product.uuid), actions.length > 0)
            // The campaign takes an action away; each other rule denies the whole.
            const isDenied = rules.some(([code, isAllowed]) => code !== "campaign" && !isAllowed)
            assert.strictEqual(actions.length === 0, isDenied)
            allowed += isDenied ? 0 : 1
            limited += !isDenied && rules.some(([, isAllowed]) => !isAllowed) ? 1 : 0
          }
          for (const post of posts) {
            const sees = seesPost(world, subject, post)
            assert.deepStrictEqual(yield* explained(`${name}=${uuid}&post=${post.uuid}`), {
              decision: sees ? "allow" : "deny",
              actions: sees ? ["view"] : [],
              rules: rulesOfPost(world, subject, post)
            })
          }
        }
        assert.isAbove(allowed, 5)
        assert.isAbove(limited, 0)
      })
  )
})
