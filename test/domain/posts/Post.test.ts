import { assert, describe, it } from "@effect/vitest"
import { Exit, Schema } from "effect"
import { fieldsOf } from "../../../src/domain/query/FilterFields.ts"
import { PartialPost, Post, PostCreate } from "../../../src/domain/posts/Post.ts"

const read = (schema: Schema.Codec<unknown, unknown>, sent: unknown) => {
  const exit = Schema.decodeUnknownExit(schema, { onExcessProperty: "error" })(sent)
  return Exit.isSuccess(exit) ? (exit.value as any) : undefined
}
const uuid = "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"
const other = "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e31"
const minimal = { type: "news", translations: [{ locale: "en", title: "a" }] }
const create = (fields: object) => read(PostCreate, { ...minimal, ...fields })
const locales = (count: number) => Array.from({ length: count }, (_, index) => ({ locale: `x${index}`, title: "a" }))

describe("creation of posts", () => {
  it("a new post requires a type and at least one translation with a title", () => {
    assert.isDefined(create({}))
    for (const lacking of [
      { translations: minimal.translations },
      { type: "news" },
      { ...minimal, type: "blog" },
      { ...minimal, translations: [] },
      { ...minimal, translations: null },
      { ...minimal, translations: [{ locale: "en" }] },
      { ...minimal, translations: [{ title: "a" }] },
      { ...minimal, translations: [{ locale: "en", title: " " }] }
    ]) {
      assert.isUndefined(read(PostCreate, lacking), JSON.stringify(lacking))
    }
  })

  it("translations of a post are sorted by locale, and a repeated locale is rejected", () => {
    const translations = ["nl-NL", "de", "EN_gb"].map((locale) => ({ locale, title: "a" }))
    assert.deepStrictEqual(
      create({ translations }).translations.map(({ locale }: { readonly locale: string }) => locale),
      ["de", "en-GB", "nl-NL"]
    )
    for (const twice of ["nl-NL", "nl_nl", " NL-nl "]) {
      assert.isUndefined(create({ translations: [...translations, { locale: twice, title: "b" }] }), twice)
    }
    assert.isDefined(create({ translations: locales(100) }))
    assert.isUndefined(create({ translations: locales(101) }))
  })

  it("texts and lists of a post have the bounds of the model, counted in characters", () => {
    const translated = (fields: object) => create({ translations: [{ locale: "en", title: "a", ...fields }] })
    const list = (count: number) => Array.from({ length: count }, (_, index) => `k${index}`)
    const uuids = (count: number) =>
      Array.from({ length: count }, (_, index) => `0198d9e4-7d0c-7b1e-8b54-${String(index).padStart(12, "0")}`)
    const bounds: ReadonlyArray<readonly [object | undefined, object | undefined]> = [
      [translated({ title: "🥐".repeat(255) }), translated({ title: "🥐".repeat(256) })],
      [translated({ excerpt: "🥐".repeat(500) }), translated({ excerpt: "🥐".repeat(501) })],
      [translated({ body: "🥐".repeat(200_000) }), translated({ body: "🥐".repeat(200_001) })],
      [create({ tags: list(100) }), create({ tags: list(101) })],
      [create({ tags: ["a".repeat(50)] }), create({ tags: ["a".repeat(51)] })],
      [create({ categories: list(50) }), create({ categories: list(51) })],
      [create({ mediaAssetUuids: uuids(50) }), create({ mediaAssetUuids: uuids(51) })],
      [
        create({ audience: { groups: uuids(1000).map((uuid) => ({ uuid })) } }),
        create({ audience: { groups: uuids(1001).map((uuid) => ({ uuid })) } })
      ],
      [
        create({ audience: { locations: uuids(10_000).map((uuid) => ({ uuid })) } }),
        create({ audience: { locations: uuids(10_001).map((uuid) => ({ uuid })) } })
      ]
    ]
    for (const [index, [within, beyond]] of bounds.entries()) {
      assert.isDefined(within, `bound ${index}`)
      assert.isUndefined(beyond, `bound ${index}`)
    }
  })

  it("duplicates in lists of a post are removed, in the order of the first", () => {
    assert.deepStrictEqual(create({ tags: ["b", "a", " b "] }).tags, ["b", "a"])
    assert.deepStrictEqual(create({ mediaAssetUuids: [other, uuid, other.toUpperCase()] }).mediaAssetUuids, [
      other,
      uuid
    ])
    const groups = [{ uuid: other, name: "x" }, { uuid }, { uuid: other.toUpperCase() }]
    assert.deepStrictEqual(create({ audience: { groups } }).audience.groups, [{ uuid: other }, { uuid }])
  })
})

describe("updates of posts", () => {
  it("null clears optional members of a post and is rejected for others", () => {
    for (const member of [
      "author",
      "coverAssetUuid",
      "callToAction",
      "publishAt",
      "expireAt",
      "mediaAssetUuids",
      "categories",
      "tags"
    ]) {
      assert.isDefined(read(PartialPost, { [member]: null }), member)
    }
    for (const member of ["slug", "type", "status", "translations", "audience", "pinned"]) {
      assert.isUndefined(read(PartialPost, { [member]: null }), member)
    }
    assert.isDefined(read(PartialPost, { audience: { groups: null } }))
    assert.isDefined(read(PartialPost, { audience: { locations: null } }))
    assert.isUndefined(read(PartialPost, { audience: { authorizationType: null } }))
  })

  it("the name of an author is ignored, whatever it is", () => {
    for (const name of ["Jansen", "", 5, null, {}]) {
      assert.isDefined(create({ author: { uuid, name } }), JSON.stringify(name))
      assert.isDefined(read(PartialPost, { author: { uuid, name } }), JSON.stringify(name))
    }
    assert.isUndefined(create({ author: { name: "Jansen" } }))
  })

  it("no two filter fields of a post differ only by case", () => {
    const paths = fieldsOf(Post).map(({ path }) => path)
    assert.includeMembers(paths, ["translations.title", "audience.groups.uuid", "author.name", "callToAction.url"])
    assert.strictEqual(new Set(paths.map((path) => path.toLowerCase())).size, paths.length)
  })
})
