import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { expectError, send } from "../../support/requests/Requests.ts"
import { createWebhook, path, readWebhook } from "../../support/requests/WebhookRequests.ts"
import * as TestServer from "../../support/TestServer.ts"

const url = "https://first.example"
const moved = "https://moved.example"

/** What happens during each lookup of the new host. */
let meanwhile: Array<() => Promise<unknown>> = []
const lookup = async (host: string) => {
  if (host === "moved.example") await meanwhile.shift()?.()
  return TestServer.lookup()
}

/** Moves a webhook of products with a key that may read products; while the new host is looked up, another key writes this. */
const move = Effect.fnUntraced(function* (changes: ReadonlyArray<object>) {
  const { uuid } = yield* createWebhook({ url, types: ["product.*"] })
  const { key } = yield* TestServer.TestServer
  const run = Effect.runPromiseWith(yield* Effect.context<TestServer.TestServer>())
  meanwhile = changes.map((body) => () => run(send("PATCH", `${path}/${uuid}`, { body })))
  const by = yield* key(["update:webhooks", "read:webhooks", "read:products"])
  const answer = yield* send("PATCH", `${path}/${uuid}`, { body: { url: moved }, key: by })
  assert.lengthOf(meanwhile, 0)
  return { answer, webhook: yield* readWebhook(uuid) }
})

layer(TestServer.layer({}, lookup), { excludeTestServices: true })("checks of a new URL", (it) => {
  it.effect("a key cannot move a webhook that gets types that it may not read while the new host is looked up", () =>
    Effect.gen(function* () {
      const { answer, webhook } = yield* move([{ types: ["post.*"] }])
      const { missing } = expectError(answer, 403, "MissingPermissionsError")
      assert.deepStrictEqual([missing, webhook.url], [["read:posts"], url])
    })
  )

  it.effect("a webhook is moved although others change it while the new host is looked up", () =>
    Effect.gen(function* () {
      const { answer, webhook } = yield* move([
        { types: ["product.created"] },
        { url: "https://other.example" },
        { description: "Shop" }
      ])
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual([webhook.url, webhook.types, webhook.description], [moved, ["product.created"], "Shop"])
    })
  )
})
