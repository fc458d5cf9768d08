import { ModuleName } from "../../domain/catalog/ModuleName.ts"
import { ProductType } from "../../domain/catalog/Product.ts"
import { inherits, owns, supports } from "../../domain/catalog/ProductModule.ts"
import type { PublicUrl } from "../../settings/PublicUrl.ts"
import { thumbnailSql } from "./ProductFiles.ts"
import type { Answer, Computed } from "../../sql/Columns.ts"

/** What a product of a type tells of a module, from the names of its own active modules and of its parent's. */
const moduleColumn = (type: ProductType, name: ModuleName) => {
  const own = owns(type, name) ? `'${name}' = any (held.own)` : "false"
  const inherited = inherits(type, name) ? `(not ${own} and '${name}' = any (held.parents))` : "false"
  return `jsonb_build_object('module', '${name}', 'active', ${own} or ${inherited}, 'inherited', ${inherited})`
}

const toldByType = ProductType.literals.map((type) => {
  const names = ModuleName.literals.filter((name) => supports(type, name))
  return `when '${type}' then jsonb_build_array(${names.map((name) => moduleColumn(type, name)).join(", ")})`
})

// The offset keeps PostgreSQL from looking the names up again for each module.
const modules = `(select case t.type ${toldByType.join(" ")} end from (select
  array(select module from product_modules where product_uuid = t.uuid) as own,
  array(select module from product_modules where product_uuid = t.parent_uuid) as parents offset 0) held)`

/** Of its own files module, else of its parent's. */
const thumbnail = (publicUrl: PublicUrl["Service"]) => `(
  select ${thumbnailSql(publicUrl, "m.settings->'files'")} from (
    select settings from product_modules where module = 'files' and product_uuid in (t.uuid, t.parent_uuid)
    order by product_uuid = t.uuid desc limit 1) m)`

/** The modules of each type as rows, and the two that a variant can have from its parent. */
const supported = ProductType.literals.flatMap((type) =>
  ModuleName.literals
    .filter((name) => supports(type, name))
    .map((name) => `('${type}', '${name}', ${owns(type, name)}, ${inherits(type, name)})`)
)

const hasModule = (product: string) =>
  `exists (select from product_modules m where m.product_uuid = ${product} and m.module = told.module)`
const inheritsModule = `(told.inherits and not (told.owns and ${hasModule("t.uuid")}) and ${hasModule("t.parent_uuid")})`

/** What is told of a module `told` that a product of the type can have. */
const leaves: Readonly<Record<string, string>> = {
  module: "told.module",
  active: `(told.owns and ${hasModule("t.uuid")} or ${inheritsModule})`,
  inherited: inheritsModule
}

/** Some module of the product is so. Which modules there are depends on nothing but the type. */
const moduleCondition: Answer = ({ segments }, compare) =>
  segments[1] === "module"
    ? `t.type in (select told.type from (values ${supported.join(", ")}) told (type, module, owns, inherits) where ${compare("told.module")})`
    : `exists (select from (values ${supported.join(", ")}) told (type, module, owns, inherits)
        where told.type = t.type and ${compare(leaves[segments[1]!]!)})`

/** The expressions of what a product tells and no column of it holds. */
export const computedOf = (publicUrl: PublicUrl["Service"]): Computed => ({
  modules: { sql: modules, condition: moduleCondition },
  thumbnailUrl: thumbnail(publicUrl),
  variantCount: `(case when t.type = 'variantParent' then
    (select count(*)::int from products v where v.parent_uuid = t.uuid) end)`,
  // A uuid of a product that is no longer one of the variants is not told.
  defaultVariantUuid: `(select v.uuid from product_modules m
    join products v on v.uuid = (m.settings->>'defaultVariantUuid')::uuid and v.parent_uuid = t.uuid
    where m.product_uuid = t.uuid and m.module = 'variants')`
})
