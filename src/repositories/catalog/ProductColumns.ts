import { ModuleName } from "../../domain/catalog/ModuleName.ts"
import { Product, ProductType } from "../../domain/catalog/Product.ts"
import { inherits, owns, supports } from "../../domain/catalog/ProductModule.ts"
import type { PublicUrl } from "../../settings/PublicUrl.ts"
import { thumbnailSql } from "./ProductFiles.ts"
import { columnsOf, type Computed, type ComputedCondition, row } from "../../sql/Columns.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { type Answers, newestOf } from "../../sql/Selected.ts"

/** A module of a product of a type, from the names of its own active modules and of its parent's; all constants. */
const moduleColumn = (type: ProductType, name: ModuleName) => {
  const own = owns(type, name) ? `'${name}' = any (held.own)` : "false"
  const inherited = inherits(type, name) ? `(not ${own} and '${name}' = any (held.parents))` : "false"
  return `jsonb_build_object('module', '${name}', 'active', ${own} or ${inherited}, 'inherited', ${inherited})`
}

const modulesByType = ProductType.literals.map((type) => {
  const names = ModuleName.literals.filter((name) => supports(type, name))
  return `when '${type}' then jsonb_build_array(${names.map((name) => moduleColumn(type, name)).join(", ")})`
})

// The offset keeps PostgreSQL from looking the names up again for each module.
const modules = sql.literal(`(select case t.type ${modulesByType.join(" ")} end from (select
  array(select module from product_modules where product_uuid = t.uuid) as own,
  array(select module from product_modules where product_uuid = t.parent_uuid) as parents offset 0) held)`)

/** Of its own files module, else of its parent's. */
const thumbnail = (publicUrl: PublicUrl["Service"]) => sql`(
  select ${thumbnailSql(publicUrl, sql`m.settings->'files'`)} from (
    select settings from product_modules where module = 'files' and product_uuid in (t.uuid, t.parent_uuid)
    order by product_uuid = t.uuid desc limit 1) m)`

/** The modules of each type as rows, and the two that a variant can have from its parent. */
const rows = ProductType.literals.flatMap((type) =>
  ModuleName.literals
    .filter((name) => supports(type, name))
    .map((name) => `('${type}', '${name}', ${owns(type, name)}, ${inherits(type, name)})`)
)
const supported = sql.literal(`(values ${rows.join(", ")}) supported (type, module, owns, inherits)`)

const hasModule = (product: Fragment) =>
  sql`exists (select from product_modules m where m.product_uuid = ${product} and m.module = supported.module)`
const ofProduct = hasModule(row("uuid"))
const inheritsModule = sql`(supported.inherits and not (supported.owns and ${ofProduct}) and ${hasModule(row("parent_uuid"))})`

/** The members of a module that a product of the type can have. */
const members: Readonly<Record<string, Fragment>> = {
  active: sql`(supported.owns and ${ofProduct} or ${inheritsModule})`,
  inherited: inheritsModule
}

/** Some module of the product meets the condition. The modules it can have depend on the type alone. */
const moduleCondition: ComputedCondition = ({ segments: [, member] }, compare) =>
  member === "module"
    ? sql`t.type in (select supported.type from ${supported} where ${compare(sql`supported.module`)})`
    : sql`exists (select from ${supported} where supported.type = t.type and ${compare(members[member!]!)})`

/** The members of a product that it has no column for. */
export const computedOf = (publicUrl: PublicUrl["Service"]): Computed => ({
  modules: { sql: modules, condition: moduleCondition },
  thumbnailUrl: thumbnail(publicUrl),
  variantCount: sql`(case when t.type = 'variantParent' then
    (select count(*)::int from products v where v.parent_uuid = t.uuid) end)`,
  // Absent when the product with this uuid is no longer one of the variants.
  defaultVariantUuid: sql`(select v.uuid from product_modules m
    join products v on v.uuid = (m.settings->>'defaultVariantUuid')::uuid and v.parent_uuid = t.uuid
    where m.product_uuid = t.uuid and m.module = 'variants')`
})

/** What the answer of a product can include: of a variantParent, its variants. */
export const relatedOf = (computed: Computed): Answers["related"] => ({
  variants: [
    newestOf({
      member: "variants",
      columns: columnsOf(Product, computed),
      rows: sql.literal("products t where t.parent_uuid = owner.uuid"),
      when: sql`t.type = 'variantParent'`
    })
  ]
})
