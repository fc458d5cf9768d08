import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as Permission from "../../../src/domain/keys/Permission.ts"
import { type Answer, send, type Sent, unknownUuid } from "../requests/Requests.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { TestServer } from "../TestServer.ts"
import { Wire } from "../wire/Wire.ts"
import { bulkCalls } from "./BulkCalls.ts"
import { planCalls } from "./PlanCalls.ts"
import { type Call, successes } from "./Calls.ts"
import { accessCalls } from "./AccessCalls.ts"
import { qualityCalls } from "./QualityCalls.ts"
import { changeCalls } from "./ChangeCalls.ts"
import type { Operation } from "./Documented.ts"
import { moduleCalls } from "./ModuleCalls.ts"
import { checked } from "./OverWire.ts"
import { errorCalls } from "./ErrorCalls.ts"

const calls = {
  ...successes,
  ...errorCalls,
  ...moduleCalls,
  ...changeCalls,
  ...accessCalls,
  ...qualityCalls,
  ...bulkCalls,
  ...planCalls
}

/** The error for an unknown uuid in the path, by the first segment of the path. */
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
  "api-keys": "ApiKeyNotFoundError",
  webhooks: "WebhookNotFoundError",
  plans: "PlanNotFoundError"
}

/** The path of a call; with unknown uuids unless the call has them. */
export const pathOf = ({ path }: Operation, { query = "", reservationUuid = unknownUuid, uuid = unknownUuid }: Call) =>
  path.replace("{uuid}", uuid).replace("{reservationUuid}", reservationUuid) + query

export const call = (operation: Operation, { body, ...at }: Call, sent: Sent = {}) =>
  send(operation.method, pathOf(operation, at), { ...(body === undefined ? {} : { body }), ...sent })

/** The call that returns `tag`. */
const prepared = (operation: Operation, tag: string) =>
  calls[tag === "Success" ? operation.id : `${operation.id} ${tag}`] ??
  assert.fail(`No call is defined for ${operation.id} ${tag}`)

/** A request that does not decode. */
const unreadable = (operation: Operation) => {
  const { hasBody, method, path } = operation
  if (path.includes("{uuid}")) return call(operation, { uuid: "no-uuid", ...(hasBody ? { body: {} } : {}) })
  if (hasBody) return call(operation, { body: { unknownMember: 1 } })
  if (operation.readsQuery) return call(operation, { query: "?limit=0" })
  // An operation without input still rejects a request without a Host header.
  return Effect.flatMap(Wire, ({ fullKey, raw }) =>
    checked(method, path, raw(`${method} ${path} HTTP/1.1\r\nAuthorization: ${fullKey}\r\nConnection: close\r\n\r\n`))
  )
}

/** A request whose `Idempotency-Key` another transaction has claimed. */
const whileClaimed = Effect.fnUntraced(function* (operation: Operation) {
  const { pooled } = yield* Sql
  const key = `claimed-${operation.id}`
  const { body } = yield* send("GET", "/v1/me")
  const claim = pooled`
    select pg_advisory_xact_lock(hashtextextended('idempotency ' || ${body.data.uuid}::text || ' ' || ${key}::text, 0))`
  const asked = operation.hasBody ? { body: {} } : {}
  return yield* pooled.withTransaction(
    Effect.andThen(claim, call(operation, asked, { headers: { "idempotency-key": key } }))
  )
})

/** The permissions that a description names. */
const described = ({ description }: Operation) =>
  Array.from(description.matchAll(/`(\w+:[\w-]+)`/g), ([, name]) => name!)

/** The permissions that an operation requires, or of which it requires some; those of access depend on the query as well. */
export const permissionsOf = (operation: Operation) =>
  operation.permissions.length === 0 || operation.id.startsWith("access.")
    ? [...new Set([...operation.permissions, ...described(operation)])]
    : operation.permissions

/** Makes an operation return `tag`. */
export const provoke = Effect.fnUntraced(function* (operation: Operation, tag: string) {
  const { key } = yield* TestServer
  switch (tag) {
    case "UnauthorizedError":
      return yield* call(operation, {}, { key: null })
    case "MissingPermissionsError": {
      const needed = permissionsOf(operation)
      const held = Permission.all.filter((permission) => !needed.includes(permission))
      return yield* call(operation, {}, { key: yield* key(held) })
    }
    case "InvalidRequestError":
      return yield* unreadable(operation)
    case "IdempotencyInProgressError":
      return yield* whileClaimed(operation)
    case "InvalidFilterError":
      return yield* call(
        operation,
        yield* calls[`${operation.id} ${tag}`] ?? Effect.succeed({ query: "?filter=nonsense" })
      )
    default: {
      const isOwn = operation.path.includes("{uuid}") && notFound[operation.path.split("/")[2]!] === tag
      const asked = yield* prepared(operation, isOwn ? "Success" : tag)
      return yield* call(operation, isOwn ? { ...asked, uuid: unknownUuid } : asked)
    }
  }
})

/** Prepares a successful call of every operation; returns functions that send it. */
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

export const summaryOf = ({ body, status }: Pick<Answer, "status" | "body">) => `${status} ${body?._tag}`
