import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Permission } from "../../../src/domain/keys/Permission.ts"
import { send } from "../requests/Requests.ts"
import * as TestServer from "../TestServer.ts"

interface Reason {
  readonly code: string
  readonly effect: string
  readonly message: string
  readonly record?: { readonly type: string; readonly uuid: string; readonly label?: string }
  readonly path?: string
}

interface Access {
  readonly decision: string
  readonly actions: ReadonlyArray<string>
  readonly reasons: ReadonlyArray<Reason>
}

/** The answer to a question about access, asked with a key of some permissions or of all. */
export const access = Effect.fnUntraced(function* (query: string, permissions?: ReadonlyArray<Permission>) {
  const { key } = yield* TestServer.TestServer
  const { body, status, text } = yield* send(
    "GET",
    `/v1/access?${query}`,
    permissions === undefined ? {} : { key: yield* key(permissions) }
  )
  assert.strictEqual(status, 200, text)
  return body.data as Access
})

export const reasonOf = ({ reasons }: Access, code: string) => reasons.find((reason) => reason.code === code)!

export const messageOf = (answer: Access, code: string) => reasonOf(answer, code).message
