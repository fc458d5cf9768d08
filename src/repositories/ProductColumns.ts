import { ModuleName } from "../domain/ModuleName.ts"
import { ProductType } from "../domain/Product.ts"
import { inherits, owns, supports } from "../domain/ProductModule.ts"

/** Which type of product has which module from where, as rows of SQL. */
const matrix = ProductType.literals.flatMap((type) =>
  ModuleName.literals.flatMap((name, place) =>
    supports(type, name) ? [`('${type}', '${name}', ${place}, ${owns(type, name)}, ${inherits(type, name)})`] : []
  )
)

const modules = `(
  select jsonb_agg(jsonb_build_object('module', m.name,
    'active', own.module is not null or parents.module is not null,
    'inherited', own.module is null and parents.module is not null) order by m.place)
  from (values ${matrix.join(", ")}) m(type, name, place, owns, inherits)
    left join product_modules own on m.owns and own.product_uuid = t.uuid and own.module = m.name
    left join product_modules parents on m.inherits and parents.product_uuid = t.parent_uuid and parents.module = m.name
  where m.type = t.type)`

/** The expressions of what a product tells and no column of it holds. */
export const computed = {
  modules,
  thumbnailUrl: "null::text",
  variantCount: `(case when t.type = 'variantParent' then
    (select count(*)::int from products v where v.parent_uuid = t.uuid) end)`,
  // A uuid of a product that is no longer one of the variants is not told.
  defaultVariantUuid: `(select v.uuid from product_modules m
    join products v on v.uuid = (m.settings->>'defaultVariantUuid')::uuid and v.parent_uuid = t.uuid
    where m.product_uuid = t.uuid and m.module = 'variants')`
}
