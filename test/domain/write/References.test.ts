import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { unknownErrors } from "../../../src/api/catalog/Products.ts"
import { abbreviate, rename } from "../../../src/cli/transfer/ModuleNames.ts"
import { list } from "../../../src/domain/catalog/ModuleFields.ts"
import { ModuleName } from "../../../src/domain/catalog/ModuleName.ts"
import { moduleOf } from "../../../src/domain/catalog/ProductModule.ts"
import { distinct } from "../../../src/domain/schema/Distinct.ts"
import { text, Uuid } from "../../../src/domain/schema/Fields.ts"
import { complete } from "../../../src/domain/write/Completion.ts"
import { mark, references, visibleName } from "../../../src/domain/write/Markers.ts"
import { kindsOf, type Lookup, referencesIn, resolve } from "../../../src/domain/write/References.ts"

const Named = Schema.Struct({ uuid: Uuid.pipe(references("users")), name: visibleName("users") })
/** A module that the service does not have: every kind of place a reference can have. */
const module = {
  fields: {
    owner: Schema.optionalKey(Named),
    members: list(Named, { max: 9, of: "members" }),
    rules: list(
      Schema.Struct({
        for: Schema.Literals(["location", "group", "all"]),
        uuids: distinct(Uuid, 9, "uuids").pipe(
          references({ by: "for", kinds: { location: "locations", group: "groups" } })
        ),
        name: text(9),
        deputy: Schema.optionalKey(Uuid.pipe(references("users")))
      }),
      { max: 9, of: "rules" }
    ),
    pictures: list(
      Schema.Struct({
        fileUuid: mark(Uuid, { references: "files", suppliedBy: "assetUuid" }),
        assetUuid: Schema.optionalKey(Uuid.pipe(references("assets")))
      }),
      { max: 9, of: "pictures" }
    ),
    sibling: Schema.optionalKey(Uuid.pipe(references("products")))
  }
}

const uuid = (last: number) => `0198d9e4-7d0c-7b1e-8b54-00000000000${last}`
const settings = {
  owner: { uuid: uuid(1) },
  members: [{ uuid: uuid(1) }, { uuid: uuid(2) }],
  rules: [
    { for: "location", uuids: [uuid(3), uuid(4)], name: "own", deputy: uuid(1) },
    { for: "group", uuids: [uuid(3)], name: "own", deputy: uuid(2) },
    { for: "all", uuids: [uuid(3)], name: "own" }
  ],
  pictures: [{ fileUuid: uuid(5) }, { assetUuid: uuid(6) }, { assetUuid: uuid(7) }, { fileUuid: uuid(8) }],
  sibling: uuid(9)
}

describe("a marked reference", () => {
  it("a marked reference is among the names that must exist and that are stored as rows", () =>
    assert.deepStrictEqual(
      Object.fromEntries([...referencesIn(module, settings)].map(([kind, ids]) => [kind, [...ids]])),
      {
        users: [uuid(1), uuid(2)],
        locations: [uuid(3), uuid(4)],
        groups: [uuid(3)],
        files: [uuid(5), uuid(8)],
        assets: [uuid(6), uuid(7)],
        products: [uuid(9)]
      }
    ))

  it("a marked reference is answered while its record exists, with what may be shown of it", () => {
    const facts: Readonly<Record<string, object>> = {
      [`users ${uuid(1)}`]: { name: "Anna", identifier: "anna" },
      [`locations ${uuid(4)}`]: { name: "Utrecht" },
      [`files ${uuid(5)}`]: { fileUuid: uuid(5) },
      [`assets ${uuid(6)}`]: { fileUuid: uuid(0) }
    }
    const lookup: Lookup = (kind, id) => facts[`${kind} ${id}`] as never
    assert.deepStrictEqual(resolve<object & Readonly<Record<string, unknown>>>(module, settings, lookup), {
      owner: { uuid: uuid(1), name: "Anna" },
      members: [{ uuid: uuid(1), name: "Anna" }],
      rules: [
        { for: "location", uuids: [uuid(4)], name: "own", deputy: uuid(1) },
        { for: "group", uuids: [], name: "own" },
        { for: "all", uuids: [], name: "own" }
      ],
      pictures: [{ fileUuid: uuid(5) }, { assetUuid: uuid(6), fileUuid: uuid(0) }],
      sibling: uuid(9)
    })
  })

  it("goes with the optional record or the element that cannot be without it", () => {
    const left = resolve<Readonly<Record<string, unknown>>>(module, settings, () => undefined)
    assert.notProperty(left, "owner")
    assert.deepStrictEqual([left["members"], left["pictures"]], [[], []])
  })

  it("a marked reference is in the error responses of the operation that writes it", () =>
    assert.deepStrictEqual(
      unknownErrors(module).map(({ identifier }) => identifier),
      ["UserNotFoundError", "LocationNotFoundError", "GroupNotFoundError", "FileNotFoundError", "AssetNotFoundError"]
    ))

  it("a marked reference is a name in a file, and may be the whole of a record that needs no other member", () => {
    const named = {
      owner: "anna",
      members: ["anna", { uuid: " bo " }],
      rules: [{ for: "location", uuids: ["UTR"], name: "own", deputy: "bo" }],
      sibling: "FLY-A5"
    }
    const seen: Array<string> = []
    const renamed = rename(module, named, (kind, name) => {
      seen.push(`${kind} ${name}`)
      return name.toUpperCase()
    })
    assert.deepStrictEqual(seen, [
      "users anna",
      "users anna",
      "users bo",
      "locations UTR",
      "users bo",
      "products FLY-A5"
    ])
    assert.deepStrictEqual(abbreviate(module, renamed), {
      owner: "ANNA",
      members: ["ANNA", "BO"],
      rules: [{ for: "location", uuids: ["UTR"], name: "own", deputy: "BO" }],
      sibling: "FLY-A5"
    })
  })

  it("a marked reference does not choose a kind by a member that every object has", () => {
    const rules = [{ for: "constructor", uuids: [uuid(3)], name: "own" }]
    assert.strictEqual(referencesIn(module, { rules }).size, 0)
  })
})

describe("the references of the modules", () => {
  const expected: { readonly [Name in ModuleName]?: ReadonlyArray<string> } = {
    delivery: ["locales"],
    distribution: ["locations"],
    locations: ["locations", "groups"],
    files: ["files", "assets", "locales"],
    price: ["groups", "locations"],
    workflow: ["users", "groups"],
    socials: ["locales"],
    "internal-comment": ["users"],
    campaigns: ["users"],
    permissions: ["groups", "locations"],
    template: ["locales", "categories"],
    "form-builder": ["locales"],
    variants: ["locales", "products"]
  }

  it.each(ModuleName.literals)("%s", (name) =>
    assert.sameMembers([...kindsOf(moduleOf(name))], [...(expected[name] ?? [])])
  )

  it("survive completion: a locale has its canonical form wherever it is named", () => {
    const generator = { uuid: () => uuid(1), now: "2026-01-01T00:00:00.000Z", locale: "nl" }
    const sent = { files: [{ fileUuid: uuid(5), role: "download", locale: "nl_nl" }] }
    const { settings } = complete(moduleOf("files"), sent, generator)
    assert.deepStrictEqual([...(referencesIn(moduleOf("files"), settings).get("locales") ?? [])], ["nl-NL"])
  })
})
