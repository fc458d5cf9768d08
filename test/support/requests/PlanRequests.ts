import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Permission } from "../../../src/domain/keys/Permission.ts"
import * as TestServer from "../TestServer.ts"
import { send, unique } from "./Requests.ts"

/** A key with these permissions. */
export const keyWith = (...permissions: ReadonlyArray<Permission>) =>
  Effect.flatMap(TestServer.TestServer, ({ key }) => key(permissions))

export type Fields = Readonly<Record<string, unknown>>

/** A plan of a key that has no other plans, unless one is given. */
export const plan = Effect.fnUntraced(function* (query: string, rows: ReadonlyArray<unknown> | string, given?: string) {
  const key = given ?? (yield* keyWith(...Permission.literals))
  return yield* send("POST", `/v1/plans?${query}`, {
    ...(typeof rows === "string" ? { raw: rows } : { body: rows }),
    key,
    headers: { "content-type": typeof rows === "string" ? "application/x-ndjson" : "application/json" }
  })
})

/** A prefix of identifiers, and the filter that finds them. */
export const collection = () => {
  const prefix = unique("plan")
  return {
    prefix,
    query: `resource=locations&filter=identifier:startsWith:${prefix}`,
    id: (name: string) => `${prefix}-${name}`
  }
}

/** Creates locations, and returns their uuids. */
export const branches = (rows: ReadonlyArray<Fields>) =>
  Effect.gen(function* () {
    const operations = rows.map((data) => ({ op: "create", data: { name: "Branch", ...data } }))
    const { body } = yield* send("POST", "/v1/locations/bulk", { body: { operations } })
    assert.deepStrictEqual(body.counts, { 201: rows.length })
    return body.data.map(({ uuid }: { readonly uuid: string }) => uuid) as ReadonlyArray<string>
  })

/** The changes of a plan. */
export const changesOf = (uuid: string, query = "") =>
  Effect.map(send("GET", `/v1/plans/${uuid}/changes?limit=100${query}`), ({ body }) => body.data)

/** Applies a plan. */
export const apply = (uuid: string, body: Fields = {}) => send("POST", `/v1/plans/${uuid}/apply`, { body })

/** The locations whose identifiers have a prefix, sorted by these. */
export const listOf = (prefix: string) =>
  Effect.map(
    send("GET", `/v1/locations?filter=identifier:startsWith:${prefix}&sortBy=identifier&sortOrder=asc&limit=100`),
    ({ body }) => body.data as ReadonlyArray<Fields>
  )

/** The counts of a plan that changes nothing. */
export const zero = { create: 0, update: 0, unchanged: 0, delete: 0, refused: 0 }
