import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset, createCategory, fileRow, readAsset, upload } from "../../support/requests/AssetRequests.ts"
import { expectError, send, unique, unknownUuid } from "../../support/requests/Requests.ts"

type Fields = Readonly<Record<string, unknown>>
const post = (fields: Fields) => send("POST", "/v1/assets", { body: fields })
const base = ["uuid", "urls", "fileExtension", "fileNameOriginal", "fileSize", "translations", "createdAt", "editedAt"]
layer(TestServer.layer(), { excludeTestServices: true })("Assets", (it) => {
  it.effect("an asset is named after its file and has exactly the members of the interface", () =>
    Effect.gen(function* () {
      const fileUuid = yield* upload("Summer Sale.2026.PDF", Buffer.from("%PDF-1.7\n"))
      const { body, status } = yield* post({ fileUuid })
      assert.deepStrictEqual([status, Object.keys(body.data)], [201, ["uuid"]])
      const asset = yield* readAsset(body.data.uuid)
      assert.sameMembers(Object.keys(asset), base)
      assert.sameMembers(Object.keys(asset.urls), ["original", "thumbnail", "preview", "cdnUrl"])
      assert.deepInclude(asset, {
        uuid: body.data.uuid,
        fileExtension: "pdf",
        fileNameOriginal: "Summer Sale.2026.PDF",
        fileSize: 9,
        translations: [{ locale: "en", name: "Summer Sale.2026" }]
      })
      assert.strictEqual(asset.createdAt, asset.editedAt)
      for (const list of ["/v1/assets", "/v1/assets/search", "/v1/assets/search?search=summer"]) {
        const { data, pagination } = (yield* send("GET", list)).body
        assert.deepStrictEqual(data, [asset], list)
        assert.deepStrictEqual(pagination, { limit: 25, page: 1, total: 1, pageCount: 1 })
      }
      const { fetch } = yield* TestServer.TestServer
      const file = yield* Effect.promise(() => fetch(asset.urls.original).then((answer) => answer.text()))
      assert.strictEqual(file, "%PDF-1.7\n")
    })
  )

  it.effect("an asset without translations has the trimmed name of its file, or the whole one if it has no other", () =>
    Effect.gen(function* () {
      for (const [fileName, name] of [
        ["photo .png", "photo"],
        ["photo..png", "photo."],
        ["\u00a0.png", ".png"],
        [".htaccess", ".htaccess"]
      ] as const) {
        const uuid = yield* createAsset({ fileUuid: yield* upload(fileName) })
        assert.deepStrictEqual((yield* readAsset(uuid)).translations, [{ locale: "en", name }])
      }
    })
  )

  it.effect("asset translations are read back normalised and sorted by locale", () =>
    Effect.gen(function* () {
      const uuid = yield* createAsset({
        translations: [
          { locale: "nl_nl", name: "  Zomer ", description: " een\ntwee " },
          { locale: "EN", name: "Cafe\u0301", description: null }
        ]
      })
      assert.deepStrictEqual((yield* readAsset(uuid)).translations, [
        { locale: "en", name: "Café" },
        { locale: "nl-NL", name: "Zomer", description: "een\ntwee" }
      ])
    })
  )

  it.effect("an unknown file of an asset is reported before a rule violation", () =>
    Effect.gen(function* () {
      const broken = {
        translations: [{ locale: "xx", name: "a" }],
        categories: ["none"],
        metaTags: [{ key: "none", value: 1 }]
      }
      for (const fields of [{}, broken]) {
        const body = expectError(yield* post({ fileUuid: unknownUuid, ...fields }), 404, "FileNotFoundError")
        assert.strictEqual(body.uuid, unknownUuid)
      }
      const session = yield* send("POST", "/v1/uploads/init-multi-part", { body: { fileName: "a.txt", fileSize: 1 } })
      assert.strictEqual((yield* post({ fileUuid: session.body.data.uuid })).status, 404)
    })
  )

  it.effect("an unknown asset is a 404, and an invalid uuid a 400", () =>
    Effect.gen(function* () {
      for (const path of ["", "/meta-tags"]) {
        const body = expectError(yield* send("GET", `/v1/assets/${unknownUuid}${path}`), 404, "AssetNotFoundError")
        assert.strictEqual(body.uuid, unknownUuid)
        const malformed = yield* send("GET", `/v1/assets/poster.pdf${path}`)
        assert.deepStrictEqual([malformed.status, malformed.body.issues[0].path], [400, "uuid"])
      }
    })
  )

  it.effect("a file backs at most one asset, even with concurrent creations", () =>
    Effect.gen(function* () {
      const fileUuid = yield* upload()
      const answers = yield* Effect.replicateEffect(post({ fileUuid }), 10, { concurrency: 10 })
      assert.sameMembers(
        answers.map(({ status }) => status),
        [201, ...Array<number>(9).fill(400)]
      )
      const { body } = yield* post({ fileUuid })
      assert.strictEqual(body._tag, "InvalidRequestError")
      assert.deepInclude(body.issues[0], { in: "body", path: "fileUuid", code: "notUnique" })
    })
  )

  it.effect("asset categories are given by key or uuid, and all unknown ones are listed", () =>
    Effect.gen(function* () {
      const [one, two] = [unique("category"), unique("category")]
      const uuid = yield* createCategory({ key: one })
      yield* createCategory({ key: two, position: 1 })
      const asset = yield* createAsset({ categories: [` ${two} `, uuid.toUpperCase(), one] })
      assert.deepStrictEqual((yield* readAsset(asset, "categories")).categories, [one, two])
      const fileUuid = yield* fileRow("a.txt")
      const body = expectError(
        yield* post({ fileUuid, categories: ["none", one, unknownUuid, "None"] }),
        400,
        "InvalidAssetCategoriesError"
      )
      assert.deepStrictEqual(body.invalid, ["none", unknownUuid, "None"])
      const many = yield* post({ fileUuid, categories: Array.from({ length: 21 }, () => one) })
      assert.deepStrictEqual([many.status, many.body.issues[0].path], [400, "categories"])
      assert.strictEqual((yield* post({ fileUuid, categories: Array.from({ length: 20 }, () => one) })).status, 201)
    })
  )

  it.effect("an invalid asset is rejected with the path of the member, and nothing is written", () =>
    Effect.gen(function* () {
      const fileUuid = yield* fileRow("rejected.txt")
      const total = Effect.map(send("GET", "/v1/assets?limit=1"), ({ body }) => body.pagination.total)
      const before = yield* total
      const named = (name: unknown, rest: Fields = {}) => ({ translations: [{ locale: "en", name, ...rest }] })
      for (const [path, fields] of [
        ["fileUuid", { fileUuid: undefined }],
        ["fileUuid", { fileUuid: null }],
        ["fileUuid", { fileUuid: "no uuid" }],
        ["translations.0.name", named(" ")],
        ["translations.0.name", named(undefined)],
        ["translations.0.name", named(null)],
        ["translations.0.name", named("a".repeat(256))],
        ["translations.0.name", named("a\nb")],
        ["translations.0.description", named("a", { description: "a".repeat(5001) })],
        ["translations", { translations: [...named("a").translations, ...named("b").translations] }],
        ["translations", { translations: Array.from({ length: 101 }, () => named("a").translations[0]) }],
        ["validUntil", { validFrom: "2026-01-01T00:00:00.000Z", validUntil: "2026-01-01T00:00:00.000Z" }],
        ["validFrom", { validFrom: "2026-01-01" }],
        ["focalPoint", { focalPoint: { x: 0.5 } }],
        ["focalPoint.x", { focalPoint: { x: 1.1, y: 0 } }],
        ["focalPoint.y", { focalPoint: { x: 1, y: 0.00001 } }],
        ["categores", { categores: [] }]
      ] as const) {
        const body = expectError(yield* post({ fileUuid, ...fields }), 400, "InvalidRequestError")
        assert.strictEqual(body.issues?.[0].path, path)
      }
      const body = expectError(
        yield* post({ fileUuid, translations: [{ locale: "nl-XX", name: "a" }] }),
        400,
        "InvalidLocaleError"
      )
      assert.strictEqual(body.locale, "nl-XX")
      assert.strictEqual(yield* total, before)
      assert.strictEqual(
        (yield* post({ fileUuid, ...named("😀".repeat(255), { description: "a".repeat(5000) }) })).status,
        201
      )
    })
  )
})

layer(TestServer.layer({ LOCALES: "nl-NL,de" }), { excludeTestServices: true })(
  "Assets with configured locales",
  (it) => {
    it.effect("an asset is named in the first configured locale, and other locales are rejected", () =>
      Effect.gen(function* () {
        const uuid = yield* createAsset({}, "zomer.pdf")
        assert.deepStrictEqual((yield* readAsset(uuid)).translations, [{ locale: "nl-NL", name: "zomer" }])
        const body = expectError(
          yield* post({
            fileUuid: yield* fileRow("a.txt"),
            translations: [{ locale: "nl", name: "a" }]
          }),
          400,
          "InvalidLocaleError"
        )
        assert.deepStrictEqual(body.supported, ["nl-NL", "de"])
      })
    )
  }
)
