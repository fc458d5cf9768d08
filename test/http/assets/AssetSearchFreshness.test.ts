import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as AssetTexts from "../../../src/jobs/AssetTexts.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { eventually } from "../../support/Until.ts"
import * as TestServer from "../../support/TestServer.ts"
import {
  createAsset,
  createAssets,
  createCategory,
  createMetaTag,
  patchAsset,
  readAsset
} from "../../support/requests/AssetRequests.ts"
import { send } from "../../support/requests/Requests.ts"

const found = (search: string) =>
  Effect.map(send("GET", `/v1/assets/search?limit=1&search=${search}`), ({ body }) => body.pagination.total as number)
const entry = (locale: string, text: string, member = "name") => [{ locale, [member]: text }]

/** Waits for the job of the service. */
const becomes = (search: string, total: number) =>
  eventually(`${search} finds ${total} assets`, found(search), (actual) => actual === total)

/** Runs the job now; the service may be running it too. */
const comesTo = (search: string, total: number) => Effect.andThen(AssetTexts.refresh, becomes(search, total))

layer(TestServer.layer(), { excludeTestServices: true })("Freshness of the asset search", (it) => {
  it.effect("a renamed category is found by its new name, and no longer by its old one", () =>
    Effect.gen(function* () {
      const category = yield* createCategory({ key: "renamed", translations: entry("en", "Oldcategory") })
      // Rebuilt in three parts.
      const uuids = yield* createAssets(Array.from({ length: 120 }, () => ({ fields: { categories: ["renamed"] } })))
      assert.strictEqual(yield* found("oldcategory"), 120)
      const path = `/v1/asset-categories/${category}`
      yield* send("PATCH", path, { body: { translations: entry("nl", "Nieuwecategorie") } })
      yield* becomes("nieuwecategorie", 120)
      assert.strictEqual(yield* found("oldcategory"), 0)
      yield* patchAsset(uuids[0]!, { categories: [] })
      assert.strictEqual(yield* found("nieuwecategorie"), 119)
      assert.strictEqual((yield* send("DELETE", path)).status, 200)
      yield* comesTo("nieuwecategorie", 0)
      assert.deepStrictEqual((yield* readAsset(uuids[1]!, "categories")).categories, [])
    })
  )

  it.effect("an asset that is locked does not hold up the search for the others, and is found once it is free", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const category = yield* createCategory({ key: "locked", translations: entry("en", "Freename") })
      const [first] = yield* Effect.replicateEffect(createAsset({ categories: ["locked"] }), 3)
      const [isLocked, isDone] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const locking = pooled.withTransaction(
        Effect.gen(function* () {
          yield* pooled`set local idle_in_transaction_session_timeout = 0`
          yield* pooled`select from assets where uuid = ${first!} for update`
          yield* Deferred.succeed(isLocked, undefined)
          yield* Deferred.await(isDone)
        })
      )
      const lock = yield* Effect.forkChild(locking)
      yield* Deferred.await(isLocked)
      const body = { translations: entry("en", "Lockedname") }
      assert.strictEqual((yield* send("PATCH", `/v1/asset-categories/${category}`, { body })).status, 200)
      yield* comesTo("lockedname", 2)
      yield* Deferred.succeed(isDone, undefined)
      yield* Fiber.join(lock)
      yield* comesTo("lockedname", 3)
    })
  )

  it.effect(
    "an asset is noted once for several renames of its category, and again while the job rebuilds its document",
    () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const category = yield* createCategory({ key: "repeated", translations: entry("en", "Onename") })
        yield* Effect.replicateEffect(createAsset({ categories: ["repeated"] }), 3)
        const rename = (name: string) => pooled`
        update asset_categories set translations = ${JSON.stringify(entry("en", name))}::jsonb where uuid = ${category}`
        // The job of the service takes what was committed.
        const noted = yield* pooled.withTransaction(
          Effect.andThen(
            Effect.forEach(["Twoname", "Threename", "Fourname"], rename),
            pooled`select asset_uuid from stale_asset_texts s join asset_category_links l using (asset_uuid)
            where l.category_uuid = ${category}`
          )
        )
        assert.lengthOf(noted, 3)
        const body = { translations: entry("en", "Lastname") }
        const noting = send("PATCH", `/v1/asset-categories/${category}`, { body })
        yield* pooled`insert into stale_asset_texts select asset_uuid from asset_category_links where category_uuid = ${category}`
        // As the job does.
        const taking = pooled`delete from stale_asset_texts where asset_uuid in (
        select asset_uuid from asset_category_links where category_uuid = ${category})`
        const { status } = yield* pooled.withTransaction(Effect.andThen(taking, noting))
        assert.strictEqual(status, 200)
        yield* comesTo("lastname", 3)
      })
  )

  it.effect("a renamed option is found by its new label while its meta tag is searchable", () =>
    Effect.gen(function* () {
      const options = (label: string) => [{ key: "one", translations: entry("en", label, "label") }]
      const fields = { key: "choice", type: "select", options: options("Oldlabel"), searchable: true }
      const path = `/v1/meta-tags/${yield* createMetaTag(fields)}`
      const metaTags = [{ key: "choice", value: "one" }]
      yield* Effect.replicateEffect(createAsset({ metaTags }), 3)
      const patch = (body: object) => send("PATCH", path, { body })
      assert.strictEqual(yield* found("oldlabel"), 3)
      yield* patch({ options: options("Newlabel") })
      yield* comesTo("newlabel", 3)
      assert.strictEqual(yield* found("oldlabel"), 0)
      yield* patch({ searchable: false })
      yield* comesTo("newlabel", 0)
      yield* patch({ options: options("Thirdlabel") })
      yield* patch({ searchable: true })
      yield* comesTo("thirdlabel", 3)
      assert.strictEqual((yield* send("DELETE", path)).status, 200)
      yield* comesTo("thirdlabel", 0)
    })
  )

  it.effect("a change of a meta tag notes its assets for the search only if it changes their words", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const [one, two, three] = ["one", "two", "three"].map((key) => ({ key, translations: entry("en", key, "label") }))
      const tagOf = Effect.fnUntraced(function* (key: string, searchable: boolean) {
        const tag = yield* createMetaTag({ key, type: "select", options: [one, two], searchable })
        return { tag, asset: yield* createAsset({ metaTags: [{ key, value: "one" }] }) }
      })
      const hidden = yield* tagOf("hidden", false)
      const renamed = yield* tagOf("relabelled", true)
      const removed = yield* tagOf("removed", true)
      const change = (uuid: string, options: unknown) =>
        pooled`update meta_tag_definitions set options = ${JSON.stringify(options)}::jsonb where uuid = ${uuid}`
      const remove = (uuid: string) => pooled`delete from meta_tag_definitions where uuid = ${uuid}`
      const assets = [hidden, renamed, removed].map(({ asset }) => asset)
      const noted = Effect.map(
        pooled<{ readonly asset: string }>`
          select asset_uuid as asset from stale_asset_texts where asset_uuid = any (${assets}::uuid[])`,
        (rows) => rows.map(({ asset }) => asset)
      )
      const other = [{ ...one, translations: entry("en", "Other", "label") }, two]
      // The job of the service takes what was committed.
      yield* pooled.withTransaction(
        Effect.gen(function* () {
          yield* change(renamed.tag, [one, two, three])
          yield* change(renamed.tag, [three, { ...one, active: false }, two])
          yield* change(hidden.tag, other)
          yield* remove(hidden.tag)
          assert.deepStrictEqual(yield* noted, [])
          yield* change(renamed.tag, other)
          yield* remove(removed.tag)
          assert.sameMembers(yield* noted, [renamed.asset, removed.asset])
        })
      )
    })
  )

  it.effect("concurrent renames and asset writes all reach the search", () =>
    Effect.gen(function* () {
      const category = yield* createCategory({ key: "busy", translations: entry("en", "Busyfirst") })
      const fields = { key: "busytag", type: "select", options: [{ key: "one" }, { key: "two" }], searchable: true }
      const tag = yield* createMetaTag(fields)
      const uuids = yield* Effect.replicateEffect(createAsset(), 20, { concurrency: 8 })
      const label = (text: string) =>
        fields.options.map(({ key }) => ({ key, translations: entry("en", text, "label") }))
      for (let round = 0; round < 3; round++) {
        const name = `Busy${"abcdef"[round]}`
        const answers = yield* Effect.all(
          [
            ...uuids.map((uuid) => patchAsset(uuid, { categories: round % 2 === 0 ? ["busy"] : [] })),
            send("PATCH", `/v1/asset-categories/${category}`, { body: { translations: entry("en", name) } }),
            ...uuids.map((uuid, index) => patchAsset(uuid, { translations: entry("en", `Asset ${round} ${index}`) })),
            send("PATCH", `/v1/meta-tags/${tag}`, { body: { options: label(`Label${"abcdef"[round]}`) } }),
            ...uuids.map((uuid) =>
              send("PATCH", `/v1/assets/${uuid}/meta-tags`, {
                body: { metaTags: [{ key: "busytag", value: round % 2 ? "one" : "two" }] }
              })
            )
          ],
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
        yield* comesTo(name, round % 2 === 0 ? 20 : 0)
        yield* comesTo(`Label${"abcdef"[round]}`, 20)
      }
    })
  )

  it.effect("assets with the longest texts are accepted, and their names are found", () =>
    Effect.gen(function* () {
      let count = 0
      /** Unique words of four-byte characters. */
      const uniqueWords = (length: number) => {
        const words = []
        for (let size = 0; size < length; size += 6)
          words.push(
            String.fromCodePoint(0x20000 + (++count % 40_000), 0x21000 + (count >> 4), 0x22000, 0x23000, 0x24000)
          )
        return Array.from(words.join(" ")).slice(0, length).join("").trim()
      }
      const languages = "en nl de fr es it pt da sv fi nb pl cs hu ro ru uk tr el bg hr sk sl et lv lt".split(" ")
      const locales = languages
        .flatMap((language) => [language, `${language}-NL`, `${language}-BE`, `${language}-DE`])
        .slice(0, 100)
      const keys = Array.from({ length: 20 }, (_, index) => `long${index}`)
      for (const key of keys) yield* createMetaTag({ key, type: "longText", searchable: true })
      yield* Effect.forEach(keys, (key) =>
        createCategory({ key, translations: locales.map((locale) => ({ locale, name: uniqueWords(100) })) })
      )
      const translations = locales.map((locale) => ({
        locale,
        name: `${uniqueWords(240)} Endword`,
        description: uniqueWords(2000)
      }))
      const uuid = yield* createAsset({ translations, categories: keys })
      for (let first = 0; first < keys.length; first += 5) {
        const metaTags = keys.slice(first, first + 5).map((key) => ({ key, value: uniqueWords(10_000) }))
        assert.strictEqual((yield* send("PATCH", `/v1/assets/${uuid}/meta-tags`, { body: { metaTags } })).status, 200)
      }
      assert.strictEqual(yield* found("endword"), 1)
      for (const locale of ["en", "lt"]) assert.strictEqual(yield* found(`endword&locale=${locale}`), 1, locale)
    })
  )
})
