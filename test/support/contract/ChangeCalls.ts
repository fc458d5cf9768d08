import { Effect } from "effect"
import { createHash } from "node:crypto"
import { Sql } from "../../../src/sql/Sql.ts"
import { createPost } from "../requests/PostRequests.ts"
import { send, unique } from "../requests/Requests.ts"
import { eventually } from "../Until.ts"
import { ask, asset, category, group, location, type Made, metaTag, on, type Prepared, product, user } from "./Calls.ts"

/** A record of each resource with a history, by the group of its operations. */
const records = {
  users: [user, "users"],
  locations: [location, "locations"],
  groups: [group, "groups"],
  products: [product, "products"],
  posts: [Effect.suspend(() => createPost()), "posts"],
  assets: [asset, "assets"],
  metaTags: [metaTag, "meta-tags"],
  assetCategories: [category, "asset-categories"]
} as const

/** A cursor of another installation: 16 bytes of a generation, a position, a signature and a checksum. */
const foreignCursor = () => {
  const signed = Buffer.alloc(36, 1)
  return Buffer.concat([signed, createHash("sha256").update(signed).digest().subarray(0, 4)]).toString("base64url")
}
const foreign = `?after=${foreignCursor()}`

/** A record whose creation is in its history. */
const logged = ([record, resource]: (typeof records)[keyof typeof records]) =>
  Effect.gen(function* () {
    const { pooled } = yield* Sql
    const uuid = yield* record
    yield* pooled`select waypost_seal_all()`
    yield* eventually(
      "the creation is in the history",
      send("GET", `/v1/${resource}/${uuid}/history`),
      ({ body }) => body.data.length > 0
    )
    return uuid
  })

const webhook = { url: "http://127.0.0.1:4999", types: ["post.deleted"] }

/** A new webhook with the right to receive events, which is deleted soon: there are at most 50. */
const aWebhook = Effect.gen(function* () {
  const { body } = yield* send("GET", "/v1/webhooks?limit=100")
  if (body.data.length >= 40) yield* send("DELETE", `/v1/webhooks/${body.data.at(-1).uuid}`)
  const created = yield* send("POST", "/v1/webhooks", { body: webhook })
  return created.body.data.uuid as string
})

/** A record that is older than the log. */
const older = (record: (typeof records)[keyof typeof records]) =>
  Effect.tap(logged(record), (uuid) =>
    Effect.flatMap(
      Sql,
      ({ pooled }) => pooled`update events set actor = '{"type": "system"}' where record_uuid = ${uuid}`
    )
  )

/** A record that was deleted. */
const removed = (record: Made<string>, resource: string): Made<string> =>
  Effect.tap(record, (uuid) => send("DELETE", `/v1/${resource}/${uuid}`))

/** A deleted record, and another one with the same value of a member that is unique. */
const replaced = (resource: string, fields: () => object) =>
  Effect.gen(function* () {
    const body = fields()
    const { uuid } = (yield* send("POST", `/v1/${resource}`, { body })).body.data
    yield* send("DELETE", `/v1/${resource}/${uuid}`)
    yield* send("POST", `/v1/${resource}`, { body })
    return uuid as string
  })

const named = () => {
  const name = unique("restored")
  return { name, identifier: name }
}

/** A deleted user, and another one with its username or its e-mail address. */
const anotherUser = (taken: "username" | "email") =>
  Effect.gen(function* () {
    const [name, other] = [unique("restored"), unique("restored")]
    const body = { username: name, email: `${name}@example.com` }
    const { uuid } = (yield* send("POST", "/v1/users", { body })).body.data
    yield* send("DELETE", `/v1/users/${uuid}`)
    yield* send("POST", "/v1/users", { body: { username: other, email: `${other}@example.com`, [taken]: body[taken] } })
    return uuid as string
  })

/** A deleted asset whose file was deleted, too. */
const withoutFile = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const uuid = yield* asset
  const [row] = yield* pooled<{ readonly file: string }>`select file_uuid as file from assets where uuid = ${uuid}`
  yield* send("DELETE", `/v1/assets/${uuid}`)
  yield* pooled`delete from files where uuid = ${row!.file}`
  return uuid
})

/** The first event of the log was pruned. */
const pruned = Effect.flatMap(Sql, ({ pooled }) =>
  Effect.as(
    pooled`update event_log set pruned_position = 1 where pruned_position = 0`,
    "01936f0e-7c4b-7000-8000-000000000001"
  )
)

/** Calls of the operations that read the log of changes, and calls that fail, by `operation error`. */
export const changeCalls: Readonly<Record<string, Prepared>> = {
  // The first event stays the first.
  "events.list": ask("?limit=1"),
  "events.list CursorExpiredError": ask(foreign),
  "webhooks.list": ask(),
  "webhooks.create": Effect.as(aWebhook, { body: webhook }),
  "webhooks.get": on(aWebhook),
  "webhooks.update": on(aWebhook, { description: "Shop" }),
  "webhooks.delete": on(aWebhook),
  "webhooks.rotateSecret": on(aWebhook, {}),
  "webhooks.test": on(aWebhook),
  "webhooks.deliveries": on(aWebhook),
  "webhooks.deliveries CursorExpiredError": Effect.map(aWebhook, (uuid) => ({ uuid, query: foreign })),
  "webhooks.replay": on(aWebhook, { since: "2026-01-31T09:30:00.000Z" }),
  "webhooks.replay CursorExpiredError": on(aWebhook, { after: foreignCursor() }),
  "events.stream": ask(),
  "events.stream CursorExpiredError": ask(foreign),
  "locations.restore DuplicateIdentifierError": on(replaced("locations", named), {}),
  "products.restore DuplicateIdentifierError": on(
    replaced("products", () => ({ ...named(), type: "default" })),
    {}
  ),
  "groups.restore DuplicateGroupNameError": on(
    replaced("groups", () => ({ name: unique("restored") })),
    {}
  ),
  "users.restore UsernameNotUniqueError": on(anotherUser("username"), {}),
  "users.restore EmailNotUniqueError": on(anotherUser("email"), {}),
  "users.erase": on(removed(user, "users")),
  "locations.eraseHistory": on(location, { paths: ["contact.phone"] }),
  "assets.restore FileNotFoundError": on(withoutFile, {}),
  ...Object.fromEntries(
    Object.entries(records).flatMap(([name, record]): Array<[string, Prepared]> => [
      [
        `${name}.get HistoryExpiredError`,
        Effect.map(older(record), (uuid) => ({ uuid, query: "?at=2020-01-01T00:00:00.000Z" }))
      ],
      [`${name}.restore`, on(removed(record[0], record[1]), {})],
      [
        `${name}.restore HistoryExpiredError`,
        on(
          record[0],
          Effect.map(pruned, (eventId) => ({ eventId }))
        )
      ],
      [`${name}.history`, on(logged(record))],
      [`${name}.history CursorExpiredError`, Effect.map(logged(record), (uuid) => ({ uuid, query: foreign }))],
      [`${name}.delta`, ask("?limit=1")],
      [`${name}.delta CursorExpiredError`, ask(foreign)]
    ])
  )
}
