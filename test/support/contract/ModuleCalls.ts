import { Effect } from "effect"
import { ModuleName, pascal } from "../../../src/domain/catalog/ModuleName.ts"
import { ProductType } from "../../../src/domain/catalog/Product.ts"
import { owns, supports } from "../../../src/domain/catalog/ProductModule.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { unknownUuid } from "../requests/Requests.ts"
import { activate, createProduct, createVariant, minimalSettings } from "../requests/ProductRequests.ts"
import { file, on, type Prepared } from "./Calls.ts"

const productOf = (type: ProductType) =>
  type === "variant"
    ? Effect.flatMap(createProduct({ type: "variantParent" }), (parent) => createVariant(parent))
    : Effect.suspend(() => createProduct({ type }))

const unknownLocale = [{ locale: "qq-QQ" }]
const uuid = unknownUuid

/** Invalid bodies by module and error. */
const bodies: Partial<Record<ModuleName, Readonly<Record<string, object>>>> = {
  delivery: {
    InvalidLocaleError: { methods: [{ key: "a", type: "shipping", translations: [{ locale: "qq-QQ", name: "A" }] }] }
  },
  distribution: {
    LocationNotFoundError: { allocationMode: "explicit", allocations: [{ locationUuid: unknownUuid, quantity: 1 }] }
  },
  locations: { LocationNotFoundError: { locations: [{ uuid }] }, GroupNotFoundError: { groups: [{ uuid }] } },
  files: {
    FileNotFoundError: { files: [{ fileUuid: unknownUuid, role: "download" }] },
    AssetNotFoundError: { files: [{ assetUuid: unknownUuid, role: "download" }] },
    InvalidLocaleError: Effect.map(file, (fileUuid) => ({
      files: [{ fileUuid, role: "download", locale: "qq-QQ" }]
    }))
  },
  price: {
    LocationNotFoundError: { overrides: [{ scope: "location", uuid, amountMinor: 1 }] },
    GroupNotFoundError: { overrides: [{ scope: "group", uuid, amountMinor: 1 }] }
  },
  workflow: {
    UserNotFoundError: { steps: [{ name: "a", approvers: { type: "users", uuids: [unknownUuid] } }] },
    GroupNotFoundError: { steps: [{ name: "a", approvers: { type: "groups", uuids: [unknownUuid] } }] }
  },
  socials: { InvalidLocaleError: { translations: unknownLocale } },
  "internal-comment": { UserNotFoundError: { thread: [{ body: "a", author: { uuid } }] } },
  campaigns: {
    UserNotFoundError: {
      campaigns: [
        {
          key: "a",
          name: "a",
          startsAt: "2026-01-01T00:00:00.000Z",
          endsAt: "2026-01-02T00:00:00.000Z",
          responsibleUserUuid: unknownUuid
        }
      ]
    }
  },
  permissions: { LocationNotFoundError: { locations: [{ uuid }] }, GroupNotFoundError: { groups: [{ uuid }] } },
  template: {
    InvalidLocaleError: { ...minimalSettings["template"], locales: ["qq-QQ"] },
    InvalidTemplateModuleConfigurationError: { outputs: [] }
  },
  "form-builder": {
    InvalidLocaleError: {
      fields: [{ key: "name", type: "text", translations: [{ locale: "qq-QQ", label: "A" }] }]
    }
  },
  variants: {
    InvalidLocaleError: {
      options: [{ key: "size", translations: [{ locale: "qq-QQ", name: "A" }], values: [{ key: "a1" }] }]
    }
  }
}

/** A stored template that was valid before the rules became stricter. */
const outdated = Effect.flatMap(Sql, ({ pooled }) =>
  Effect.tap(
    Effect.tap(productOf("default"), (uuid) => activate(uuid, "template", minimalSettings["template"])),
    (uuid) => pooled`update product_modules set settings = '{"outputs": []}' where product_uuid = ${uuid}`
  )
)

const callsOf = (name: ModuleName): ReadonlyArray<readonly [string, Prepared]> => {
  const [get, update, remove] = ["get", "update", "delete"].map((verb) => `products.${verb}${pascal(name)}Module`)
  const body = minimalSettings[name]
  const product = productOf(ProductType.literals.find((type) => owns(type, name))!)
  const active = Effect.tap(product, (uuid) => activate(uuid, name, body))
  const without = ProductType.literals.find((type) => !supports(type, name))
  const withoutOwn = ProductType.literals.find((type) => !owns(type, name))
  return [
    [get!, on(active)],
    [update!, on(product, body)],
    [remove!, on(active)],
    [`${get} ModuleNotActiveError`, on(product)],
    [`${remove} ModuleNotActiveError`, on(product)],
    ...(without === undefined
      ? []
      : [[`${get} ModuleIncompatibleWithProductTypeError`, on(productOf(without))] as const]),
    ...(withoutOwn === undefined
      ? []
      : [
          [`${update} ModuleIncompatibleWithProductTypeError`, on(productOf(withoutOwn), body)] as const,
          [`${remove} ModuleIncompatibleWithProductTypeError`, on(productOf(withoutOwn))] as const
        ]),
    ...Object.entries(bodies[name] ?? {}).map(
      ([error, invalid]) => [`${update} ${error}`, on(product, invalid)] as const
    )
  ]
}

/** The calls of all modules: `operation` succeeds, `operation error` fails with that error. */
export const moduleCalls: Readonly<Record<string, Prepared>> = {
  ...Object.fromEntries(ModuleName.literals.flatMap(callsOf)),
  "products.getTemplateModule InvalidTemplateModuleConfigurationError": on(outdated)
}

/** The contract lists the error for every module, but all products support these modules. */
export const ofEveryProduct = ModuleName.literals
  .filter((name) => ProductType.literals.every((type) => supports(type, name)))
  .map((name) => `products.get${pascal(name)}Module ModuleIncompatibleWithProductTypeError`)
