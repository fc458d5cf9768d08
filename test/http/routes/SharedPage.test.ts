import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import * as SharedPage from "../../../src/http/routes/SharedPage.ts"

/** The answer of a service whose page has a policy, to a browser that has the page with a tag. */
const answerOf = Effect.fnUntraced(function* (policy: string, tag = "") {
  const share = yield* SharedPage.make
  const page = HttpServerResponse.uint8Array(Buffer.from("<!doctype html>"), {
    contentType: "text/html",
    headers: { "content-security-policy": policy }
  })
  const request = HttpServerRequest.fromWeb(new Request("http://waypost.test", { headers: { "if-none-match": tag } }))
  return yield* Effect.provideService(share(page), HttpServerRequest.HttpServerRequest, request)
})

describe("shared pages", () => {
  it.effect("a page whose policy has changed is sent to browsers that have it with another policy", () =>
    Effect.gen(function* () {
      const [before, after] = ["default-src 'none'", "default-src 'self'"] as const
      const first = yield* answerOf(before)
      const tag = first.headers["etag"]
      assert.strictEqual((yield* answerOf(before, tag)).status, 304)
      const changed = yield* answerOf(after, tag)
      assert.strictEqual(changed.status, 200)
      assert.strictEqual(changed.headers["content-security-policy"], after)
    })
  )
})
