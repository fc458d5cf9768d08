import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as Receivers from "../Receiver.ts"
import { send } from "./Requests.ts"

export const path = "/v1/webhooks"

export interface Hook {
  readonly uuid: string
  readonly secret: string
}

/** Creates a webhook. */
export const createWebhook = Effect.fnUntraced(function* (body: Readonly<Record<string, unknown>>, key?: string) {
  const { body: answer, status, text } = yield* send("POST", path, { body, ...(key === undefined ? {} : { key }) })
  assert.strictEqual(status, 201, text)
  return answer.data as Hook
})

/** The webhook as GET returns it. */
export const readWebhook = (uuid: string) => Effect.map(send("GET", `${path}/${uuid}`), ({ body }) => body.data)

/** The deliveries of a webhook, newest first. */
export const deliveriesOf = (uuid: string, query = "") =>
  Effect.map(send("GET", `${path}/${uuid}/deliveries${query}`), ({ body }) => body.data)

/** A receiver that ends with the test. */
export const receiver = Effect.acquireDisposable(Effect.promise(() => Receivers.start()))
