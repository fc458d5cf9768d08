import { assert, describe, it } from "@effect/vitest"
import { MetaTagInput, MetaTagInputs } from "../../../../src/domain/assets/metaTags/AssetMetaTag.ts"
import {
  MetaTagDefinition,
  MetaTagDefinitionCreate,
  PartialMetaTagDefinition
} from "../../../../src/domain/assets/metaTags/MetaTag.ts"
import { compare, decode, kept, notText, rejected, rejects } from "../../cases.ts"

const uuid = "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"
const option = { uuid, key: "a", translations: [], position: 0, active: true }
const record = {
  uuid,
  key: "campaignSeason",
  translations: [{ locale: "nl", name: "Seizoen", helpText: "a\nb" }],
  type: "multiSelect",
  required: false,
  filterable: true,
  searchable: true,
  editable: true,
  categories: ["logos"],
  group: { key: "campaign", translations: [{ locale: "nl", name: "Campagne" }], position: 1 },
  defaultValue: ["a"],
  validation: { maxItems: 2 },
  options: [option, { ...option, key: "b", parentOptionUuid: uuid }],
  position: 0,
  createdAt: "2026-01-31T09:30:00.000Z",
  editedAt: "2026-01-31T09:30:00.000Z"
}
const minimal = { key: "a", type: "text" }
const options = (count: number) => Array.from({ length: count }, (_, index) => ({ key: `o${index}` }))

describe("schemas of meta tag definitions", () => {
  it("the key of a definition starts with a lower-case letter", () =>
    assert.deepStrictEqual(
      ...compare(MetaTagDefinition.fields.key, [
        ...kept(["a", "campaignSeason", "a_1", `a${"b".repeat(63)}`]),
        [" a ", "a"],
        ...rejects(["", "A", "1a", "_a", "a-b", "a b", "é", `a${"b".repeat(64)}`, ...notText])
      ])
    ))

  it("a definition has one of ten types", () => {
    const types = "text longText integer decimal boolean date dateTime url select multiSelect".split(" ")
    assert.deepStrictEqual(
      ...compare(MetaTagDefinition.fields.type, [...kept(types), ...rejects(["Text", "enum", "", null])])
    )
  })

  it("a definition requires only a key and a type", () =>
    assert.deepStrictEqual(
      ...compare(MetaTagDefinitionCreate, [
        ...kept([
          minimal,
          { ...minimal, translations: null, categories: null, group: null, defaultValue: null, validation: null },
          { ...minimal, options: null },
          { ...minimal, required: true, filterable: true, searchable: true, editable: false, position: 7 },
          { ...minimal, validation: { minLength: null, pattern: "a" }, group: { key: "a", position: null } },
          ...[1, true, "a", ["a"]].map((defaultValue) => ({ ...minimal, defaultValue }))
        ]),
        ...rejects([{ key: "a" }, { type: "text" }, { ...minimal, required: null }, { ...minimal, position: null }]),
        ...rejects([
          { ...minimal, defaultValue: {} },
          { ...minimal, defaultValue: [1] },
          { ...minimal, type: null }
        ])
      ])
    ))

  it("a definition can be sent back as it was read", () => {
    for (const schema of [MetaTagDefinitionCreate, PartialMetaTagDefinition]) {
      assert.notStrictEqual(decode(schema, record), rejected)
    }
    assert.notStrictEqual(decode(MetaTagDefinition, record), rejected)
  })

  it("the members of a definition have the bounds of the model", () =>
    assert.deepStrictEqual(
      ...compare(PartialMetaTagDefinition, [
        ...kept([{}, { options: options(5000) }, { categories: Array(100).fill("a") }]),
        ...rejects([
          { translations: [{ locale: "nl", name: "a".repeat(101) }] },
          { translations: [{ locale: "nl", name: "a", helpText: "a".repeat(501) }] },
          { options: options(5001) },
          { options: [{ key: "" }] },
          { options: [{ key: "a".repeat(101) }] },
          { options: [{ key: "a", translations: [{ locale: "nl", label: "a".repeat(101) }] }] },
          { categories: Array(101).fill("a") },
          { validation: { minLength: -1 } },
          { validation: { maxLength: 0 } },
          { validation: { maxLength: 1.5 } },
          { validation: { maxItems: 0 } },
          { validation: { pattern: "a".repeat(201) } },
          { validation: { min: "1" } }
        ])
      ])
    ))
})

describe("schemas of meta tag values", () => {
  it("a sent value names its definition by key or uuid and is any JSON", () =>
    assert.deepStrictEqual(
      ...compare(MetaTagInput, [
        ...kept([
          { key: "a", value: null },
          { uuid, value: 1 },
          { key: "a", uuid, value: ["a"], type: "multiSelect", options: [{ uuid, key: "a", label: "A" }] },
          { key: "a", value: { b: [1] } }
        ]),
        ...rejects([{ value: 1 }, { key: "a" }, { key: 1, value: 1 }, { uuid: "a", value: 1 }])
      ])
    ))

  it("at most five hundred values can be sent", () => {
    const many = (count: number) => Array.from({ length: count }, () => ({ key: "a", value: 1 }))
    assert.deepStrictEqual(...compare(MetaTagInputs, [...kept([[], many(500)]), [many(501), rejected]]))
  })
})
