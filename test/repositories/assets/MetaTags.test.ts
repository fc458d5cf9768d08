import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Schema } from "effect"
import { AssetCategoryCreate, type AssetCategoryId } from "../../../src/domain/assets/AssetCategory.ts"
import { noPrecondition } from "../../../src/domain/query/Precondition.ts"
import { Locales, make } from "../../../src/domain/schema/Locale.ts"
import {
  MetaTagDefinitionCreate,
  type MetaTagId,
  PartialMetaTagDefinition
} from "../../../src/domain/assets/metaTags/MetaTag.ts"
import { AssetCategories } from "../../../src/repositories/assets/AssetCategories.ts"
import * as CurrentDefinitions from "../../../src/repositories/assets/CurrentDefinitions.ts"
import { MetaTags } from "../../../src/repositories/assets/MetaTags.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import * as Postgres from "../../support/Postgres.ts"
import { settings } from "../../support/TestServer.ts"

const services = MetaTags.layer.pipe(
  Layer.provideMerge(AssetCategories.layer),
  Layer.provide(Layer.succeed(Locales, make(undefined))),
  Layer.provideMerge(Postgres.sql),
  Layer.provide(settings())
)

const create = (definition: object) =>
  Effect.flatMap(MetaTags, (tags) =>
    Effect.map(
      tags.create(Schema.decodeUnknownSync(MetaTagDefinitionCreate)({ type: "text", ...definition })),
      ({ uuid }) => uuid
    )
  )
const patch = (uuid: MetaTagId, change: object) =>
  Effect.flatMap(MetaTags, (tags) =>
    tags.update(uuid, Schema.decodeSync(PartialMetaTagDefinition)(change), noPrecondition)
  )
const category = (key: string, parentUuid?: AssetCategoryId) =>
  Effect.flatMap(AssetCategories, (categories) =>
    Effect.map(
      categories.create(Schema.decodeSync(AssetCategoryCreate)({ key, parentUuid: parentUuid ?? null })),
      ({ uuid }) => uuid
    )
  )

/** Inserts an asset with these values. */
const asset = Effect.fnUntraced(function* (values: Readonly<Record<string, unknown>>) {
  const { pooled } = yield* Sql
  const [row] = yield* pooled<{ readonly uuid: string }>`
    with file as (
      insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name)
      values (gen_random_uuid(), 'a.png', 'png', 'image/png', 1, '', 'a.png', 'a.png') returning uuid
    ) select uuid from file`
  const [made] = yield* pooled<{ readonly uuid: string }>`
    insert into assets (uuid, file_uuid, translations)
    values (gen_random_uuid(), ${row!.uuid}, '[{"locale":"en","name":"a"}]') returning uuid`
  yield* pooled.unsafe(
    `insert into asset_meta_tags select $1::uuid, d.uuid, sent.value
      from jsonb_each($2::jsonb) sent join meta_tag_definitions d on d.key = sent.key`,
    [made!.uuid, JSON.stringify(values)]
  )
  return made!.uuid
})

layer(services, { excludeTestServices: true })("repository of meta tags", (it) => {
  it.effect("definitions apply to their categories and the descendants of these, or to all assets", () =>
    Effect.gen(function* () {
      const tags = yield* MetaTags
      const photos = yield* category("photos")
      const portraits = yield* category("portraits", photos)
      const logos = yield* category("logos")
      yield* create({ key: "ofPortraits", categories: ["portraits"], position: 3 })
      yield* create({ key: "ofPhotos", categories: ["photos"], position: 2, defaultValue: "x", required: true })
      yield* create({ key: "ofAll", position: 2, type: "select", options: [{ key: "a" }] })
      yield* create({ key: "ofSome", categories: ["logos", "portraits"], position: 1, editable: false })
      const keys = (json: string) => (JSON.parse(json) as ReadonlyArray<{ key: string }>).map(({ key }) => key)
      const order = ["ofSome", "ofAll", "ofPhotos", "ofPortraits"]
      assert.deepStrictEqual(keys(yield* tags.all()), order)
      const expected = [
        [[photos], ["ofAll", "ofPhotos"]],
        [[portraits], order],
        [[logos], ["ofSome", "ofAll"]],
        [
          [logos, photos],
          ["ofSome", "ofAll", "ofPhotos"]
        ],
        [[], ["ofAll"]]
      ] as const
      for (const [categories, applicable] of expected) {
        assert.deepStrictEqual(keys(yield* tags.all({ categories })), applicable)
        const found = yield* tags.definitions(categories)
        assert.deepStrictEqual(
          found.definitions.map(({ key }) => key),
          order
        )
        assert.sameMembers([...found.applicable], [...applicable])
      }
      const { definitions } = yield* tags.definitions([])
      const { uuid: _, ...photo } = definitions[2]!
      assert.deepStrictEqual(photo, {
        key: "ofPhotos",
        type: "text",
        required: true,
        editable: true,
        defaultValue: "x",
        options: []
      })
      assert.deepStrictEqual(
        definitions[1]?.options.map(({ active, key }) => [key, active]),
        [["a", true]]
      )
    })
  )

  it.effect("the translation for the requested locale is listed first", () =>
    Effect.gen(function* () {
      const tags = yield* MetaTags
      const texts = (member: string) => ["de", "en", "nl-BE", "nl-NL"].map((locale) => ({ locale, [member]: locale }))
      const group = { key: "g", translations: texts("name"), position: 5 }
      const options = [{ key: "b", translations: texts("label") }, { key: "a" }]
      yield* create({ key: "translated", type: "select", translations: texts("name"), group, options })
      const localesFor = Effect.fnUntraced(function* (locale?: string) {
        const all = JSON.parse(yield* tags.all({ locale })) as ReadonlyArray<any>
        const { group, options, translations, ...rest } = all.find(({ key }) => key === "translated")
        const lists = [translations, group.translations, options[0].translations]
        return {
          rest,
          keys: options.map(({ key }: { key: string }) => key),
          position: group.position,
          empty: options[1].translations,
          locales: lists.map((list) => list.map((item: { locale: string }) => item.locale).join())
        }
      })
      const plain = yield* localesFor()
      assert.deepStrictEqual(plain.locales, Array(3).fill("de,en,nl-BE,nl-NL"))
      for (const [locale, order] of [
        ["nl-NL", "nl-NL,de,en,nl-BE"],
        ["nl", "nl-BE,de,en,nl-NL"],
        ["fr", "de,en,nl-BE,nl-NL"]
      ]) {
        assert.deepStrictEqual(yield* localesFor(locale), { ...plain, locales: Array(3).fill(order) })
      }
      assert.deepStrictEqual([plain.keys, plain.empty, plain.position], [["b", "a"], [], 5])
      const none = JSON.parse(yield* tags.all({ locale: "nl" })) as ReadonlyArray<object>
      assert.isTrue(none.some((definition) => !("group" in definition)))
    })
  )

  it.effect("an option that assets use cannot be removed, only deactivated", () =>
    Effect.gen(function* () {
      const all = [{ key: "one" }, { key: "two" }, { key: "three" }, { key: "four" }]
      const one = yield* create({ key: "single", type: "select", options: all })
      const many = yield* create({ key: "several", type: "multiSelect", options: all })
      yield* asset({ single: "one", several: ["two", "three"] })
      yield* asset({ several: ["three"] })
      for (const [uuid, left, used] of [
        [one, ["two", "three", "four"], /^options: Assets still have one; send .* "active": false/],
        [many, ["one", "four"], /^options: Assets still have three, two; /],
        [many, [], /still have three, two; /]
      ] as const) {
        const error = yield* Effect.flip(patch(uuid, { options: left.map((key) => ({ key })) }))
        assert.strictEqual(error._tag, "InvalidRequestError")
        assert.match(error.message, used)
      }
      yield* patch(one, { options: [{ key: "one", active: false }] })
      yield* patch(many, { options: [{ key: "three", active: false }, { key: "two" }] })
    })
  )

  it.effect("an option cannot be removed while values are being validated against it", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const tags = yield* MetaTags
      const uuid = yield* create({ key: "raced", type: "select", options: [{ key: "a" }, { key: "b" }] })
      const [validated, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const writer = yield* Effect.forkChild(
        pooled.withTransaction(
          Effect.gen(function* () {
            yield* tags.definitions([])
            yield* Deferred.succeed(validated, undefined)
            yield* Deferred.await(go)
            yield* asset({ raced: "a" })
          })
        )
      )
      yield* Deferred.await(validated)
      const replacement = yield* Effect.forkChild(Effect.result(patch(uuid, { options: [{ key: "b" }] })))
      yield* Effect.sleep("100 millis")
      assert.isUndefined(replacement.pollUnsafe())
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(writer)
      const refused = yield* Fiber.join(replacement)
      assert.strictEqual(refused._tag === "Failure" ? refused.failure._tag : "", "InvalidRequestError")
    })
  )

  it.effect("deleting a definition deletes its values", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const tags = yield* MetaTags
      const uuid = yield* create({ key: "valued" })
      yield* asset({ valued: "a" })
      const values = pooled`select from asset_meta_tags where definition_uuid = ${uuid}`
      assert.lengthOf(yield* values, 1)
      yield* tags.delete(uuid, noPrecondition)
      assert.lengthOf(yield* values, 0)
    })
  )

  it.effect("values are validated against the current definitions, not cached ones", () =>
    Effect.gen(function* () {
      const tags = yield* MetaTags
      const named = (key: string) =>
        Effect.map(tags.definitions([]), ({ applicable, definitions }) => {
          const found = definitions.find((definition) => definition.key === key)
          return [applicable.has(key), found && [found.required, found.options.length]] as const
        })
      const uuid = yield* create({ key: "current", type: "select" })
      assert.deepStrictEqual(yield* named("current"), [true, [false, 0]])
      yield* patch(uuid, { required: true, options: [{ key: "a" }] })
      assert.deepStrictEqual(yield* named("current"), [true, [true, 1]])
      yield* category("elsewhere")
      yield* patch(uuid, { categories: ["elsewhere"] })
      assert.deepStrictEqual(yield* named("current"), [false, [true, 1]])
      yield* tags.delete(uuid, noPrecondition)
      assert.deepStrictEqual(yield* named("current"), [false, undefined])
      yield* create({ key: "current", type: "select" })
      assert.deepStrictEqual(yield* named("current"), [true, [false, 0]])
    })
  )

  it.effect("a long list of options is cached until it changes", () =>
    Effect.gen(function* () {
      const tags = yield* MetaTags
      const options = Array.from({ length: 5000 }, (_, index) => ({
        key: `option-${index}`,
        translations: ["en", "nl"].map((locale) => ({ locale, label: `Label ${index} in ${locale}` }))
      }))
      yield* create({ key: "large", type: "select", options })
      const first = yield* tags.definitions([])
      assert.lengthOf(first.definitions.find(({ key }) => key === "large")?.options ?? [], 5000)
      assert.strictEqual((yield* tags.definitions([])).definitions, first.definitions)
    })
  )

  it.effect("asset writers that find another version at once read all definitions once or twice, as they are now", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      let statements = 0
      const counting = new Proxy(pooled, {
        apply: (target, self, parts: ReadonlyArray<unknown>) => {
          statements++
          return Reflect.apply(target, self, parts)
        }
      })
      const current = CurrentDefinitions.make(counting)
      const writers = 20
      for (const key of ["shared", "sharedLater"]) {
        yield* create({ key })
        statements = 0
        const found = yield* Effect.all(
          Array.from({ length: writers }, () => current([])),
          { concurrency: "unbounded" }
        )
        assert.include([1, 2], statements - writers)
        for (const { applicable, definitions } of found) {
          assert.isTrue(applicable.has(key) && definitions.some((definition) => definition.key === key))
        }
      }
    })
  )

  it.effect("a change of one definition reads that one again", () =>
    Effect.gen(function* () {
      const tags = yield* MetaTags
      const uuid = yield* create({ key: "edited" })
      yield* create({ key: "unedited" })
      const found = Effect.map(tags.definitions([]), (known) =>
        ["edited", "unedited"].map((key) => known.definitions.find((definition) => definition.key === key)!)
      )
      const [, before] = yield* found
      yield* patch(uuid, { required: true })
      const [edited, after] = yield* found
      assert.isTrue(edited!.required)
      assert.strictEqual(after, before)
    })
  )
})
