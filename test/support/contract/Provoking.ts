import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as Permission from "../../../src/domain/keys/Permission.ts"
import { type Answer, send, type Sent, unknownUuid } from "../requests/Requests.ts"
import { TestServer } from "../TestServer.ts"
import { Wire } from "../wire/Wire.ts"
import { type Call, successes } from "./Calls.ts"
import type { Operation } from "./Documented.ts"
import { moduleCalls } from "./ModuleCalls.ts"
import { checked } from "./OverWire.ts"
import { refusals } from "./Refusals.ts"

const calls = { ...successes, ...refusals, ...moduleCalls }

/** What an operation says of a uuid in its path that nothing has. */
const notFound: Readonly<Record<string, string>> = {
  users: "UserNotFoundError",
  products: "ProductNotFoundError",
  locations: "LocationNotFoundError",
  groups: "GroupNotFoundError",
  uploads: "FileNotFoundError",
  assets: "AssetNotFoundError",
  posts: "PostNotFoundError",
  "asset-categories": "AssetCategoryNotFoundError",
  "meta-tags": "MetaTagNotFoundError",
  "api-keys": "ApiKeyNotFoundError"
}

/** Where an operation is asked; of nobody unless the call says otherwise. */
export const pathOf = ({ path }: Operation, { query = "", uuid = unknownUuid }: Call) =>
  path.replace("{uuid}", uuid) + query

export const call = (operation: Operation, { body, ...at }: Call, sent: Sent = {}) =>
  send(operation.method, pathOf(operation, at), { ...(body === undefined ? {} : { body }), ...sent })

/** A call that is answered with `tag`. */
const prepared = (operation: Operation, tag: string) =>
  calls[tag === "Success" ? operation.id : `${operation.id} ${tag}`] ??
  assert.fail(`There is no case for ${operation.id} ${tag}`)

/** What does not decode, in whatever the operation reads. */
const unreadable = (operation: Operation) => {
  const { hasBody, method, path } = operation
  if (path.includes("{uuid}")) return call(operation, { uuid: "no-uuid", ...(hasBody ? { body: {} } : {}) })
  if (hasBody) return call(operation, { body: { unknownMember: 1 } })
  if (operation.readsQuery) return call(operation, { query: "?limit=0" })
  // What reads nothing of a request still needs a request that says whom it is for.
  return Effect.flatMap(Wire, ({ fullKey, raw }) =>
    checked(method, path, raw(`${method} ${path} HTTP/1.1\r\nAuthorization: ${fullKey}\r\nConnection: close\r\n\r\n`))
  )
}

/** Gets an operation to answer with `tag`. */
export const provoke = Effect.fnUntraced(function* (operation: Operation, tag: string) {
  const { key } = yield* TestServer
  switch (tag) {
    case "UnauthorizedError":
      return yield* call(operation, {}, { key: null })
    case "MissingPermissionsError": {
      const held = Permission.all.filter((permission) => !operation.permissions.includes(permission))
      return yield* call(operation, {}, { key: yield* key(held) })
    }
    case "InvalidRequestError":
      return yield* unreadable(operation)
    case "InvalidFilterError":
      return yield* call(operation, { query: "?filter=nonsense" })
    default: {
      const isOwn = operation.path.includes("{uuid}") && notFound[operation.path.split("/")[2]!] === tag
      const asked = yield* prepared(operation, isOwn ? "Success" : tag)
      return yield* call(operation, isOwn ? { ...asked, uuid: unknownUuid } : asked)
    }
  }
})

/** Prepares a call of every operation that succeeds, and gives what makes it. */
export const prepare = (operations: ReadonlyArray<Operation>) =>
  Effect.forEach(
    operations,
    (operation) =>
      Effect.map(prepared(operation, "Success"), (asked) => ({
        operation,
        ask: (sent: Sent = {}) => call(operation, asked, sent)
      })),
    { concurrency: 4 }
  )

export const told = ({ body, status }: Pick<Answer, "status" | "body">) => `${status} ${body?._tag}`
