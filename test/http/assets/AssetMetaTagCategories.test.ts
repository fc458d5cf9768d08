import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset, createCategory, createMetaTag, fileRow } from "../../support/requests/AssetRequests.ts"
import { send } from "../../support/requests/Requests.ts"

type Fields = Readonly<Record<string, unknown>>
const patch = (uuid: string, metaTags: unknown) => send("PATCH", `/v1/assets/${uuid}/meta-tags`, { body: { metaTags } })
const valuesOf = (uuid: string) =>
  Effect.map(send("GET", `/v1/assets/${uuid}/meta-tags`), ({ body }) =>
    Object.fromEntries(body.data.map(({ key, value }: Fields) => [key, value]))
  )
const codesOf = (body: { readonly issues: ReadonlyArray<{ readonly key: string; readonly code: string }> }) =>
  body.issues.map(({ code, key }) => `${key} ${code}`)

layer(TestServer.layer(), { excludeTestServices: true })("Meta tags and categories of assets", (it) => {
  it.effect("a meta tag applies only to its categories and their subcategories", () =>
    Effect.gen(function* () {
      const media = yield* createCategory({ key: "media" })
      const photos = yield* createCategory({ key: "photos", parentUuid: media })
      yield* createCategory({ key: "portraits", parentUuid: photos })
      yield* createMetaTag({ key: "photoOnly", type: "text", categories: ["photos"] })
      const photoOnly = [{ key: "photoOnly", value: "a" }]
      for (const [category, status] of [
        ["photos", 200],
        ["portraits", 200],
        ["media", 400]
      ] as const) {
        const uuid = yield* createAsset({ categories: [category] })
        assert.strictEqual((yield* patch(uuid, photoOnly)).status, status, category)
      }
      const uuid = yield* createAsset({ categories: ["portraits"], metaTags: photoOnly })
      yield* send("PATCH", `/v1/assets/${uuid}`, { body: { categories: [] } })
      assert.deepStrictEqual(yield* valuesOf(uuid), { photoOnly: "a" })
      assert.strictEqual((yield* patch(uuid, photoOnly)).status, 200)
      assert.deepStrictEqual(codesOf((yield* patch(uuid, [{ key: "photoOnly", value: "b" }])).body), [
        "photoOnly notApplicable"
      ])
      assert.strictEqual((yield* patch(uuid, [{ key: "photoOnly", value: null }])).status, 200)
      assert.deepStrictEqual(yield* valuesOf(uuid), {})
    })
  )

  it.effect("a new asset gets default values and requires required meta tags, of those that apply to it", () =>
    Effect.gen(function* () {
      yield* createCategory({ key: "formal" })
      const categories = ["formal"]
      yield* createMetaTag({ key: "owner", type: "text", required: true, categories })
      yield* createMetaTag({
        key: "tone",
        type: "select",
        options: [{ key: "blue" }],
        defaultValue: "blue",
        required: true,
        categories
      })
      const post = (fields: Fields) =>
        Effect.flatMap(fileRow("a.txt"), (fileUuid) => send("POST", "/v1/assets", { body: { fileUuid, ...fields } }))
      for (const metaTags of [undefined, [], [{ key: "owner", value: null }]]) {
        const { body, status } = yield* post({ categories, metaTags })
        assert.deepStrictEqual([status, codesOf(body)], [400, ["owner required"]])
      }
      const uuid = (yield* post({ categories, metaTags: [{ key: "owner", value: "Ann" }] })).body.data.uuid
      assert.deepStrictEqual(yield* valuesOf(uuid), { owner: "Ann", tone: "blue" })
      for (const key of ["owner", "tone"]) {
        assert.deepStrictEqual(codesOf((yield* patch(uuid, [{ key, value: null }])).body), [`${key} required`])
      }
      assert.deepStrictEqual(yield* valuesOf(yield* createAsset()), {})
    })
  )
})
