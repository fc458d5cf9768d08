import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import { type Answer, send } from "../requests/Requests.ts"
import { keys, type Resource } from "./Data.ts"

/** An entity tag in both services. */
export interface Tag {
  readonly here: string
  readonly there: string
}

/** An operation, with the uuids of the service that gets the operations one by one. */
export type Operation =
  | { readonly op: "create"; readonly data: unknown }
  | { readonly op: "update"; readonly uuid: string; readonly data: unknown; readonly ifMatch?: Tag }
  | { readonly op: "upsert"; readonly key: string; readonly data: unknown }
  | { readonly op: "delete"; readonly uuid: string; readonly ifMatch?: Tag }

export interface Outcome {
  readonly status: number
  readonly uuid?: string
  readonly error?: Readonly<Record<string, unknown>>
}

/** How the unique rule of each table compares the business key. */
const found: Readonly<Record<Resource, string | undefined>> = {
  users: "users where waypost_fold(username) = waypost_fold($1)",
  locations: "locations where identifier = $1",
  groups: "groups where waypost_fold(name) = waypost_fold($1)",
  products: "products where identifier = $1",
  posts: `posts where slug collate "und-x-icu" = $1`,
  assets: undefined,
  "meta-tags": "meta_tag_definitions where key = $1",
  "asset-categories": "asset_categories where key = $1"
}

const outcomeOf = ({ body, status }: Answer): Outcome =>
  status < 300 ? { status, uuid: body.data.uuid } : { status, error: body }

const withKey = (data: unknown, member: string, key: string): unknown =>
  typeof data !== "object" || data === null || Array.isArray(data) || member in data ? data : { ...data, [member]: key }

/** Does an operation by itself; an upsert is a creation or a patch of the record that has the key. */
export const sendAlone = Effect.fnUntraced(function* (resource: Resource, operation: Operation) {
  const path = `/v1/${resource}`
  const send_ = (method: string, at: string, data?: unknown, tag?: Tag) =>
    Effect.map(
      send(method, at, {
        ...(data === undefined ? {} : { raw: JSON.stringify(data) }),
        ...(tag === undefined ? {} : { headers: { "if-match": tag.here } })
      }),
      outcomeOf
    )
  switch (operation.op) {
    case "create":
      return yield* send_("POST", path, operation.data)
    case "update":
      return yield* send_("PATCH", `${path}/${operation.uuid}`, operation.data, operation.ifMatch)
    case "delete":
      return yield* send_("DELETE", `${path}/${operation.uuid}`, undefined, operation.ifMatch)
    case "upsert": {
      const { pooled } = yield* Sql
      // A slug is stored as it is sent, other keys without the spaces around them.
      const key = resource === "posts" ? operation.key : operation.key.normalize("NFC").trim()
      const [record] = yield* pooled.unsafe<{ readonly uuid: string }>(`select uuid from ${found[resource]!}`, [key])
      const data = withKey(operation.data, keys[resource]!, operation.key)
      return yield* record === undefined ? send_("POST", path, data) : send_("PATCH", `${path}/${record.uuid}`, data)
    }
  }
})
