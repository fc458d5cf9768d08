import { ModuleName } from "../domain/ModuleName.ts"
import { ProductType } from "../domain/Product.ts"
import { inherits, owns, supports } from "../domain/ProductModule.ts"
import type { PublicUrl } from "../PublicUrl.ts"
import { thumbnailSql } from "./ProductFiles.ts"

/** What a product of a type tells of a module, from the names of its own active modules and of its parent's. */
const told = (type: ProductType, name: ModuleName) => {
  const own = owns(type, name) ? `'${name}' = any (held.own)` : "false"
  const inherited = inherits(type, name) ? `(not ${own} and '${name}' = any (held.parents))` : "false"
  return `jsonb_build_object('module', '${name}', 'active', ${own} or ${inherited}, 'inherited', ${inherited})`
}

const toldByType = ProductType.literals.map((type) => {
  const names = ModuleName.literals.filter((name) => supports(type, name))
  return `when '${type}' then jsonb_build_array(${names.map((name) => told(type, name)).join(", ")})`
})

// The offset keeps PostgreSQL from looking the names up again for each module.
const modules = `(select case t.type ${toldByType.join(" ")} end from (select
  array(select module from product_modules where product_uuid = t.uuid) as own,
  array(select module from product_modules where product_uuid = t.parent_uuid) as parents offset 0) held)`

/** Of its own files module, else of its parent's. */
const thumbnailUrl = (publicUrl: PublicUrl["Service"]) => `(
  select ${thumbnailSql(publicUrl, "m.settings->'files'")} from (
    select settings from product_modules where module = 'files' and product_uuid in (t.uuid, t.parent_uuid)
    order by product_uuid = t.uuid desc limit 1) m)`

/** The expressions of what a product tells and no column of it holds. */
export const computedOf = (publicUrl: PublicUrl["Service"]) => ({
  modules,
  thumbnailUrl: thumbnailUrl(publicUrl),
  variantCount: `(case when t.type = 'variantParent' then
    (select count(*)::int from products v where v.parent_uuid = t.uuid) end)`,
  // A uuid of a product that is no longer one of the variants is not told.
  defaultVariantUuid: `(select v.uuid from product_modules m
    join products v on v.uuid = (m.settings->>'defaultVariantUuid')::uuid and v.parent_uuid = t.uuid
    where m.product_uuid = t.uuid and m.module = 'variants')`
})
