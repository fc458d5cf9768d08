import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { expectError, send, unique, unknownUuid } from "../../support/requests/Requests.ts"

type Fields = Readonly<Record<string, unknown>>
const post = (fields: Fields = {}) => send("POST", "/v1/asset-categories", { body: { key: unique("key"), ...fields } })
const create = (fields: Fields = {}) =>
  Effect.map(post(fields), ({ body, text }) => (body.data?.uuid as string) ?? assert.fail(text))
const read = (uuid: string) => Effect.map(send("GET", `/v1/asset-categories/${uuid}`), ({ body }) => body.data)
const patch = (uuid: string, body: unknown) => send("PATCH", `/v1/asset-categories/${uuid}`, { body })
const remove = (uuid: string) => send("DELETE", `/v1/asset-categories/${uuid}`)
const list = (query: string) => Effect.map(send("GET", `/v1/asset-categories?${query}`), ({ body }) => body)

layer(TestServer.layer({ LOCALES: "nl,nl-NL,en" }), { excludeTestServices: true })("Asset categories", (it) => {
  it.effect("a category requires only a key and is read back normalised", () =>
    Effect.gen(function* () {
      const bare = yield* read(yield* create({ key: " logos ", translations: null }))
      const { createdAt, editedAt, uuid: _, ...rest } = bare
      assert.deepStrictEqual(rest, { key: "logos", translations: [], position: 0 })
      assert.strictEqual(createdAt, editedAt)
      const parentUuid = bare.uuid
      const translations = [
        { locale: "nl_nl", name: " Foto's " },
        { locale: "EN", name: "Photos" }
      ]
      const full = yield* read(yield* create({ key: "photos", translations, parentUuid, position: 7 }))
      assert.deepInclude(full, { key: "photos", parentUuid, position: 7 })
      assert.deepStrictEqual(full.translations, [
        { locale: "en", name: "Photos" },
        { locale: "nl-NL", name: "Foto's" }
      ])
    })
  )

  it.effect("a category update changes only the named members, null clears, and an unchanged value is no edit", () =>
    Effect.gen(function* () {
      const parentUuid = yield* create()
      const uuid = yield* create({ key: "update", parentUuid, translations: [{ locale: "nl", name: "A" }] })
      const before = yield* read(uuid)
      for (const same of [{}, { key: " update " }, { translations: [{ locale: "NL", name: "A " }] }, before]) {
        assert.deepStrictEqual((yield* patch(uuid, same)).body, { _tag: "Success", data: { uuid } })
        assert.deepStrictEqual(yield* read(uuid), before)
      }
      const changed = { key: "updated", translations: [{ locale: "en", name: "B" }], position: 2 }
      yield* patch(uuid, { ...changed, parentUuid: null })
      const { editedAt, ...after } = yield* read(uuid)
      assert.deepStrictEqual(after, { uuid, createdAt: before.createdAt, ...changed })
      assert.isTrue(editedAt > before.editedAt)
      yield* patch(uuid, { translations: null })
      assert.deepStrictEqual((yield* read(uuid)).translations, [])
    })
  )

  it.effect("the key of a category is unique, at creation, update and under concurrency", () =>
    Effect.gen(function* () {
      yield* create({ key: "held" })
      const other = yield* create()
      for (const response of [yield* post({ key: "held" }), yield* patch(other, { key: "held" })]) {
        const body = expectError(response, 400, "InvalidRequestError")
        assert.deepInclude(body.issues[0], { in: "body", path: "key", code: "notUnique" })
      }
      const answers = yield* Effect.all(
        Array.from({ length: 10 }, () => post({ key: "race" })),
        { concurrency: 10 }
      )
      assert.deepStrictEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [201, ...Array(9).fill(400)]
      )
    })
  )

  it.effect("an unsupported locale of a category is rejected by name, but an unknown category is reported first", () =>
    Effect.gen(function* () {
      const translations = [{ locale: "de", name: "A" }]
      const uuid = yield* create()
      for (const response of [yield* post({ translations }), yield* patch(uuid, { translations })]) {
        const body = expectError(response, 400, "InvalidLocaleError")
        assert.strictEqual(body.locale, "de")
      }
      const body = expectError(yield* patch(unknownUuid, { translations }), 404, "AssetCategoryNotFoundError")
      assert.strictEqual(body.uuid, unknownUuid)
      const twice = [...translations, { locale: "DE", name: "B" }]
      assert.deepInclude((yield* post({ translations: twice })).body.issues[0], {
        path: "translations",
        code: "notUnique"
      })
    })
  )

  it.effect("an unknown parent category is rejected by its uuid", () =>
    Effect.gen(function* () {
      const uuid = yield* create()
      for (const response of [
        yield* post({ parentUuid: unknownUuid }),
        yield* patch(uuid, { parentUuid: unknownUuid })
      ]) {
        const body = expectError(response, 400, "InvalidAssetCategoriesError")
        assert.deepStrictEqual(body.invalid, [unknownUuid])
      }
    })
  )

  it.effect("a category never becomes its own ancestor, even under concurrent moves", () =>
    Effect.gen(function* () {
      const top = yield* create()
      const middle = yield* create({ parentUuid: top })
      const bottom = yield* create({ parentUuid: middle })
      for (const parentUuid of [top, middle, bottom]) {
        const { body, status } = yield* patch(top, { parentUuid })
        assert.strictEqual(status, 400)
        assert.deepInclude(body.issues[0], { path: "parentUuid", code: "cycle" })
      }
      assert.strictEqual((yield* patch(bottom, { parentUuid: top })).status, 200)
      for (let round = 0; round < 5; round++) {
        const ring = yield* Effect.replicateEffect(Effect.suspend(create), 6)
        const moves = ring.flatMap((uuid, index) => [
          patch(uuid, { parentUuid: ring[(index + 1) % 6], key: unique("moved") }),
          patch(ring[(index + 1) % 6]!, { parentUuid: uuid })
        ])
        const answers = yield* Effect.all(moves, { concurrency: "unbounded" })
        assert.sameMembers([...new Set(answers.map(({ status }) => status))], [200, 400])
        const parents = new Map<string, string | undefined>()
        for (const uuid of ring) parents.set(uuid, (yield* read(uuid)).parentUuid)
        for (const uuid of ring) {
          let [steps, current] = [0, parents.get(uuid)]
          while (current !== undefined && steps++ < 10) current = parents.get(current)
          assert.isUndefined(current, "a cycle")
        }
      }
    })
  )

  it.effect("a category can be deleted only without subcategories", () =>
    Effect.gen(function* () {
      const parentUuid = yield* create()
      const uuid = yield* create({ parentUuid })
      const body = expectError(yield* remove(parentUuid), 400, "InvalidRequestError")
      assert.strictEqual(body.issues[0].code, "inUse")
      for (const gone of [uuid, parentUuid]) {
        assert.deepStrictEqual((yield* remove(gone)).body, { _tag: "Success", data: { uuid: gone } })
        for (const answer of [
          yield* remove(gone),
          yield* patch(gone, {}),
          yield* send("GET", `/v1/asset-categories/${gone}`)
        ]) {
          expectError(answer, 404, "AssetCategoryNotFoundError")
        }
      }
    })
  )

  it.effect("categories can be filtered by every member and sorted by the sortable ones", () =>
    Effect.gen(function* () {
      const parentUuid = yield* create({ key: "find-parent" })
      const fields = { key: "find-me", parentUuid, position: 4, translations: [{ locale: "nl", name: "Vind Mij" }] }
      const uuid = yield* create(fields)
      yield* create({ key: "find-other", position: 5 })
      for (const filter of [
        "key:equals:find-me",
        "translations.name:contains:vind",
        "translations.locale:equals:nl",
        `uuid:equals:${uuid}`,
        `parentUuid:equals:${parentUuid}`,
        "position:equals:4"
      ]) {
        const { data } = yield* list(`filter=key:startsWith:find,${filter}`)
        assert.deepStrictEqual(
          data.map((found: { readonly uuid: string }) => found.uuid),
          [uuid],
          filter
        )
      }
      const keys = (sortBy: string) =>
        Effect.map(list(`filter=key:startsWith:find&sortBy=${sortBy}&sortOrder=desc`), ({ data }) =>
          data.map(({ key }: { readonly key: string }) => key)
        )
      assert.deepStrictEqual(yield* keys("key"), ["find-parent", "find-other", "find-me"])
      assert.deepStrictEqual(yield* keys("position"), ["find-other", "find-me", "find-parent"])
      assert.deepStrictEqual(yield* keys("createdAt"), ["find-other", "find-me", "find-parent"])
      yield* patch(uuid, { position: 6 })
      assert.deepStrictEqual(yield* keys("editedAt"), ["find-me", "find-other", "find-parent"])
    })
  )

  it.effect("the total of the category list follows creations and deletions", () =>
    Effect.gen(function* () {
      const before = (yield* list("limit=1")).pagination.total
      const uuid = yield* create()
      assert.strictEqual((yield* list("limit=1")).pagination.total, before + 1)
      yield* remove(uuid)
      assert.strictEqual((yield* list("limit=1")).pagination.total, before)
    })
  )

  it.effect("a stale If-Match of a category is reported before a rule violation", () =>
    Effect.gen(function* () {
      const uuid = yield* create()
      const change = (etag: string, body: unknown) =>
        send("PATCH", `/v1/asset-categories/${uuid}`, { body, headers: { "if-match": etag } })
      const { headers } = yield* send("GET", `/v1/asset-categories/${uuid}`)
      assert.strictEqual((yield* change(headers.get("etag")!, { position: 3 })).status, 200)
      for (const body of [
        { position: 4 },
        { translations: [{ locale: "de", name: "a" }] },
        { parentUuid: unknownUuid }
      ]) {
        assert.strictEqual((yield* change(headers.get("etag")!, body)).status, 412)
      }
      assert.strictEqual((yield* read(uuid)).position, 3)
    })
  )
})
