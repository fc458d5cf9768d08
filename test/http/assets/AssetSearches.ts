import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { createAsset } from "../../support/requests/AssetRequests.ts"
import { send } from "../../support/requests/Requests.ts"

type Query = Readonly<Record<string, string>>
export const ask = (query: Query) => send("GET", `/v1/assets/search?${new URLSearchParams(query).toString()}`)

/** The names of the assets found, the best match first. */
export const find = (search: string, query: Query = {}) =>
  Effect.map(ask({ search, limit: "500", ...query }), ({ body, text }) => {
    assert.strictEqual(body._tag, "Success", text)
    assert.strictEqual(body.pagination.total, body.data.length)
    return body.data.map(
      ({ translations }: { readonly translations: ReadonlyArray<{ readonly name: string }> }) => translations[0]!.name
    ) as ReadonlyArray<string>
  })
export const named = (name: string, description?: string, fields: object = {}, fileName = "f.txt") =>
  createAsset({ translations: [{ locale: "en", name, description: description ?? null }], ...fields }, fileName)

/** Asserts that each search finds exactly the assets with these names. */
export const finds = (expected: Readonly<Record<string, ReadonlyArray<string>>>, query: Query = {}) =>
  Effect.forEach(Object.entries(expected), ([search, names]) =>
    Effect.map(find(search, query), (found) => assert.sameMembers([...found], [...names], search))
  )
