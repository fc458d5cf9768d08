import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset, fileRow, readAsset, unattachedSince } from "../../support/requests/AssetRequests.ts"
import { create, expectError, read, send, unique, unknownUuid, unknownUuids } from "../../support/requests/Requests.ts"

type Fields = Readonly<Record<string, unknown>>
const put = (uuid: string, media: unknown, rest: Fields = {}) =>
  send("PUT", `/v1/locations/${uuid}/media`, { body: media, ...rest })
const label = (key: string, locale: string, text: string) => ({ key, locale, label: text })
const none = { items: [] }

/** Replaces the media and returns them as GET returns them. */
const set = Effect.fnUntraced(function* (uuid: string, media: unknown) {
  const { body, status, text } = yield* put(uuid, media)
  assert.deepStrictEqual([status, body], [200, { _tag: "Success", data: { uuid } }], text)
  return (yield* read(uuid)).media
})
const uuidsOf = (items: ReadonlyArray<{ readonly uuid: string }>) => items.map(({ uuid }) => uuid)

layer(TestServer.layer(), { excludeTestServices: true })("Media of locations", (it) => {
  it.effect("media are part of the location in every read and list", () =>
    Effect.gen(function* () {
      const uuid = yield* create({ name: "With media" })
      assert.deepStrictEqual((yield* read(uuid)).media, none)
      const asset = yield* createAsset({}, "front.png")
      const file = yield* fileRow("menu.pdf")
      const labels = [label("title", "nl_nl", " Menukaart "), label("title", "EN", "Menu"), label("alt", "nl", "Kaart")]
      const media = yield* set(uuid, {
        logo: { assetUuid: asset },
        items: [
          { assetUuid: asset, role: "exterior" },
          { fileUuid: file.toUpperCase(), assetUuid: null, role: "menu", labels }
        ]
      })
      const { cdnUrl: _, ...urls } = (yield* readAsset(asset)).urls
      const of = { assetUuid: asset, type: "document", urls, labels: [] }
      const [first, second] = media.items
      assert.deepStrictEqual(media.logo, { uuid: media.logo.uuid, role: "logo", position: 0, ...of })
      assert.deepStrictEqual(first, { uuid: first.uuid, role: "exterior", position: 0, ...of })
      assert.deepStrictEqual(second, {
        uuid: second.uuid,
        fileUuid: file,
        role: "menu",
        type: "document",
        position: 1,
        urls: second.urls,
        labels: [label("alt", "nl", "Kaart"), label("title", "en", "Menu"), label("title", "nl-NL", "Menukaart")]
      })
      assert.sameMembers(Object.keys(second.urls), ["original", "thumbnail", "preview"])
      const location = yield* read(uuid)
      const group = (yield* send("POST", "/v1/groups", { body: { name: unique("Group"), locations: [uuid] } })).body
        .data
      const username = unique("user")
      const person = { username, email: `${username}@example.com`, locations: [uuid] }
      const user = (yield* send("POST", "/v1/users", { body: person })).body.data
      for (const path of [
        `/v1/locations?filter=uuid:equals:${uuid}`,
        `/v1/groups/${group.uuid}/locations`,
        `/v1/users/${user.uuid}/locations`
      ]) {
        assert.deepStrictEqual((yield* send("GET", path)).body.data, [location], path)
      }
      const logos = yield* send(
        "GET",
        `/v1/locations?filter=media.logo.assetUuid:equals:${asset},media.items.role:equals:menu`
      )
      assert.deepStrictEqual(logos.body.data, [location])
    })
  )

  it.effect("a filter on the labels of media items finds a location if any label of any item matches", () =>
    Effect.gen(function* () {
      const file = { fileUuid: yield* fileRow("a.bin"), role: "other" }
      const uuid = yield* create()
      yield* set(uuid, {
        logo: { assetUuid: yield* createAsset(), labels: [label("alt", "en", "Only of the logo")] },
        items: [file, { ...file, labels: [label("alt", "en", 'Front, "left"'), label("alt", "nl", "Gevel")] }]
      })
      for (const [condition, total] of [
        ["label:equals:Gevel", 1],
        ["label:startsWith:front", 1],
        ["label:contains:t%5C, %5C%22left%5C%22", 1],
        ["label:equals:gevel", 0],
        ["label:contains:only of", 0],
        ["locale:equals:nl", 1],
        ["locale:equals:de", 0],
        ["key:endsWith:LT", 1]
      ] as const) {
        const { body } = yield* send("GET", `/v1/locations?filter=uuid:equals:${uuid},media.items.labels.${condition}`)
        assert.strictEqual(body.pagination?.total, total, `${condition} ${JSON.stringify(body)}`)
      }
    })
  )

  it.effect("the type of a media item follows the MIME type of its file", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const files = yield* Effect.forEach(["image/png", "video/mp4", "application/pdf"], (mimeType) =>
        Effect.tap(fileRow("a.bin"), (file) => pooled`update files set mime_type = ${mimeType} where uuid = ${file}`)
      )
      const { items } = yield* set(yield* create(), { items: files.map((fileUuid) => ({ fileUuid, role: "other" })) })
      assert.deepStrictEqual(
        items.map(({ type }: Fields) => type),
        ["image", "video", "document"]
      )
    })
  )

  it.effect("kept items keep their uuid, an unchanged list is no edit, and the index is the position", () =>
    Effect.gen(function* () {
      const uuid = yield* create()
      const assets = yield* Effect.replicateEffect(createAsset(), 3)
      const [a, b, c] = assets.map((assetUuid) => ({ assetUuid, role: "interior" }))
      const logo = { assetUuid: assets[0] }
      const before = yield* set(uuid, { logo, items: [a, b, a] })
      const { editedAt } = yield* read(uuid)
      const after = yield* set(uuid, { logo, items: [c, { ...b, labels: [label("alt", "en", "B")] }, a] })
      assert.isTrue((yield* read(uuid)).editedAt > editedAt)
      assert.strictEqual(after.logo.uuid, before.logo.uuid)
      assert.strictEqual(after.items[1].uuid, before.items[1].uuid)
      assert.include(uuidsOf(before.items), after.items[2].uuid)
      assert.notInclude(uuidsOf(before.items), after.items[0].uuid)
      assert.deepStrictEqual(
        after.items.map(({ position }: Fields) => position),
        [0, 1, 2]
      )
      assert.deepStrictEqual(after.items[1].labels, [label("alt", "en", "B")])
      const settled = yield* read(uuid)
      for (const same of [
        after,
        { logo, items: [c, { ...b, labels: [label("alt", "EN", " B ")] }, { ...a, labels: null }] }
      ]) {
        assert.deepStrictEqual(yield* set(uuid, same), after)
        assert.deepStrictEqual(yield* read(uuid), settled)
      }
      // PATCH of a location ignores its media.
      assert.strictEqual((yield* send("PATCH", `/v1/locations/${uuid}`, { body: { media: none } })).status, 200)
      assert.deepStrictEqual(yield* read(uuid), settled)
    })
  )

  it.effect("a logo that is null or left out is removed, and an empty list removes all items", () =>
    Effect.gen(function* () {
      const uuid = yield* create()
      const assetUuid = yield* createAsset()
      const items = [{ assetUuid, role: "team" }]
      for (const without of [{ logo: null, items }, { items }]) {
        assert.property(yield* set(uuid, { logo: { assetUuid }, items }), "logo")
        assert.sameMembers(Object.keys(yield* set(uuid, without)), ["items"])
      }
      assert.deepStrictEqual(yield* set(uuid, none), none)
    })
  )

  it.effect("unknown assets or files are all listed in the error, and no media are written", () =>
    Effect.gen(function* () {
      const assetUuid = yield* createAsset()
      const fileUuid = yield* fileRow("a.txt")
      const uuid = yield* create()
      const before = yield* set(uuid, { items: [{ assetUuid, role: "menu" }] })
      const other = (member: string, value: string | undefined) => ({
        [member]: value,
        role: "other",
        labels: [label("a", "xx", "b")]
      })
      for (const [tag, uuids, media] of [
        [
          "AssetNotFoundError",
          [unknownUuids[0], unknownUuids[1]],
          {
            logo: { assetUuid: unknownUuids[0] },
            items: [other("assetUuid", unknownUuids[1]), other("fileUuid", unknownUuids[2])]
          }
        ],
        [
          "FileNotFoundError",
          [unknownUuids[0], unknownUuids[2]],
          {
            items: [
              other("assetUuid", assetUuid),
              other("fileUuid", unknownUuids[0]),
              other("fileUuid", unknownUuids[2])
            ]
          }
        ],
        ["AssetNotFoundError", [fileUuid], { items: [other("assetUuid", fileUuid)] }],
        ["FileNotFoundError", [assetUuid], { items: [other("fileUuid", assetUuid)] }]
      ] as const) {
        const body = expectError(yield* put(uuid, media), 404, tag)
        assert.sameMembers(body.uuids, [...uuids])
      }
      const nowhere = yield* put(unknownUuid, { items: [other("fileUuid", unknownUuids[0])] })
      expectError(nowhere, 404, "LocationNotFoundError")
      assert.strictEqual(nowhere.body.uuid, unknownUuid)
      const locale = yield* put(uuid, { items: [other("fileUuid", fileUuid)] })
      expectError(locale, 400, "InvalidLocaleError")
      assert.strictEqual(locale.body.locale, "xx")
      assert.deepStrictEqual((yield* read(uuid)).media, before)
      assert.isDefined(yield* unattachedSince(fileUuid))
    })
  )

  it.effect("invalid media are rejected with the path of the member", () =>
    Effect.gen(function* () {
      const uuid = yield* create()
      const assetUuid = yield* createAsset()
      const fileUuid = yield* fileRow("a.txt")
      const item = { assetUuid, role: "other" }
      const labelled = (...labels: ReadonlyArray<unknown>) => ({ items: [{ ...item, labels }] })
      const fine = label("alt", "nl-NL", "a")
      for (const [path, media] of [
        ["items", {}],
        ["items", { items: null }],
        ["items", { items: Array.from({ length: 101 }, () => item) }],
        ["items.0.role", { items: [{ assetUuid }] }],
        ["items.0.role", { items: [{ assetUuid, role: "poster" }] }],
        ["items.0.assetUuid", { items: [{ role: "other" }] }],
        ["items.0.assetUuid", { items: [{ role: "other", assetUuid: null, fileUuid: null }] }],
        ["items.0", { items: [{ ...item, fileUuid }] }],
        ["items.0.asset", { items: [{ asset: assetUuid, role: "other" }] }],
        ["logo.assetUuid", { logo: {}, items: [] }],
        ["logo.fileUuid", { logo: { assetUuid, fileUuid }, items: [] }],
        ["logos", { logos: null, items: [] }],
        ["items.0.labels", labelled(fine, label("alt", "NL_nl", "b"))],
        ["items.0.labels.0.key", labelled({ ...fine, key: "a b" })],
        ["items.0.labels.0.label", labelled({ ...fine, label: "a".repeat(101) })],
        ["items.0.labels.0.label", labelled({ ...fine, label: " " })]
      ] as const) {
        const body = expectError(yield* put(uuid, media), 400, "InvalidRequestError")
        assert.strictEqual(body.issues?.[0].path, path)
      }
      const hundred = yield* set(uuid, { items: Array.from({ length: 100 }, () => item) })
      assert.strictEqual(new Set(uuidsOf(hundred.items)).size, 100)
    })
  )
})
