import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  AssetCategory,
  AssetCategoryCreate,
  InvalidAssetCategoriesError,
  PartialAssetCategory
} from "../../../src/domain/assets/AssetCategory.ts"
import { compare, decode, kept, notText, rejected, rejects } from "../cases.ts"

const uuid = "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"

describe("asset categories", () => {
  it("the key of a category has lower-case letters, digits and hyphens and is not a uuid", () =>
    assert.deepStrictEqual(
      ...compare(AssetCategory.fields.key, [
        ...kept(["a", "product-photos", "2026", "-", "a".repeat(64)]),
        [" a ", "a"],
        ...rejects(["", "A", "a b", "a_b", "é", "a.b", "a,b", "a".repeat(65), uuid, ...notText])
      ])
    ))

  it("a category requires only a key", () =>
    assert.deepStrictEqual(
      ...compare(AssetCategoryCreate, [
        ...kept([
          { key: "a" },
          { key: "a", translations: null, parentUuid: null },
          { key: "a", translations: [{ locale: "nl", name: "b" }], parentUuid: uuid, position: 1_000_000 }
        ]),
        ...rejects([{}, { key: null }, { key: "a", position: null }, { key: "a", position: 1.5 }]),
        ...rejects([
          { key: "a", position: -1 },
          { key: "a", position: 1_000_001 },
          { key: "a", parentUuid: "b" }
        ]),
        ...rejects([{ key: "a", translations: [{ locale: "nl", name: "a".repeat(101) }] }])
      ])
    ))

  it("every member of a category can be changed, and a category can be sent back as read", () => {
    const record = {
      uuid,
      key: "a",
      translations: [{ locale: "nl", name: "b" }],
      parentUuid: uuid,
      position: 0,
      createdAt: "2026-01-31T09:30:00.000Z",
      editedAt: "2026-01-31T09:30:00.000Z"
    }
    for (const schema of [AssetCategoryCreate, PartialAssetCategory]) {
      assert.notStrictEqual(decode(schema, record), rejected)
    }
    assert.deepStrictEqual(
      ...compare(PartialAssetCategory, [
        ...kept([{}, { key: "b" }, { translations: null }, { parentUuid: null }, { position: 3 }]),
        ...kept([{ uuid: null }, { createdAt: "now" }]),
        ...rejects([{ key: null }, { position: null }])
      ])
    )
  })

  it("InvalidAssetCategoriesError lists the unknown keys and uuids", () => {
    const error = InvalidAssetCategoriesError.of(["a", "b"])
    assert.deepStrictEqual(Schema.encodeSync(InvalidAssetCategoriesError)(error), {
      _tag: "InvalidAssetCategoriesError",
      message: "No asset category has the key or uuid a, b",
      invalid: ["a", "b"],
      requestId: ""
    })
    const many = InvalidAssetCategoriesError.of(Array.from({ length: 12 }, (_, index) => `c${index}`))
    assert.match(many.message, /c9, … \(12 in all\)$/)
  })
})
