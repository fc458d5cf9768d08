import { Context, Effect, Layer } from "effect"
import { Product, type ProductNotFoundError } from "../../domain/catalog/Product.ts"
import type { ModuleNotActiveError } from "../../domain/catalog/ProductModule.ts"
import { Location, type LocationId, LocationNotFoundError } from "../../domain/locations/Location.ts"
import { BranchReadiness, ProductReadiness, type ReadinessCounts } from "../../domain/quality/Readiness.ts"
import { type Encoded, encodedOf, type EncodedPage } from "../../domain/schema/Encoded.ts"
import type { ProductId } from "../../domain/catalog/ProductId.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import { type Column, columnsOf, row } from "../../sql/Columns.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import * as Listing from "../../sql/lists/Listing.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"
import * as ProductColumns from "../catalog/ProductColumns.ts"
import { ProductModules } from "../catalog/ProductModules.ts"
import type { Question } from "../access/Belongings.ts"
import { allowed, isForLocation } from "../access/Rules.ts"
import * as LocationMedia from "../locations/LocationMedia.ts"
import { moduleSql, objectOf, rootsOf, stepsThroughLists, textOf, withWay } from "./ReadinessBinding.ts"
import { type Bound, problemsSql, readySql } from "./ReadinessSql.ts"

type Unavailable = ProductNotFoundError | ModuleNotActiveError

export interface ReadinessPage<A> extends EncodedPage<A> {
  readonly counts: Encoded<ReadinessCounts>
}

/** Which branches have all that the templates of products need. */
export class Readiness extends Context.Service<
  Readiness,
  {
    /** The branches that may use a product. */
    ofProduct(uuid: ProductId, request: Listing.ListRequest): Effect.Effect<ReadinessPage<BranchReadiness>, Unavailable>
    /** The products with a template that a branch may use. */
    ofLocation(
      uuid: LocationId,
      request: Listing.ListRequest
    ): Effect.Effect<ReadinessPage<ProductReadiness>, LocationNotFoundError>
  }
>()("waypost/repositories/quality/Readiness") {
  static readonly layer = Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const { search } = yield* Sql
      const modules = yield* ProductModules
      const publicUrl = yield* PublicUrl
      const branches = yield* Listing.make<BranchReadiness>({
        table: "locations",
        columns: columnsOf(BranchReadiness)
      })
      const products = yield* Listing.make<ProductReadiness>({
        table: "products",
        columns: columnsOf(ProductReadiness)
      })
      const locationColumns = columnsOf(Location, LocationMedia.computedOf(publicUrl))
      const productColumns = columnsOf(Product, ProductColumns.computedOf(publicUrl))
      const steps = sql`${JSON.stringify(stepsThroughLists)}::jsonb`

      /** Products of every type can have a template. */
      const templateOf = (uuid: ProductId) =>
        Effect.catchTag(modules.settings("template", uuid), "ModuleIncompatibleWithProductTypeError", Effect.die)

      /** A page, the counts of the whole list, and whether the record exists that it belongs to. */
      const read = Effect.fnUntraced(function* <A>(
        list: Effect.Success<ReturnType<typeof Listing.make<A>>>["list"],
        request: Listing.ListRequest,
        { columns, found, name, ready, table, where }: Readable
      ) {
        const from = sql`from ${table} t where ${where(row("uuid"))}`
        const total = sql`select count(*)::int ${from}`
        const scope = { name, where, total, found: sql`true` }
        const page = yield* list(withDefaults(request), { columns, scope })
        // Of a list that is filtered by readiness alone, the total is one of the counts. The other one is of a later statement,
        // before which records may have been deleted.
        const known = readyAlone(request)
        const counted = !isCounted(request)
          ? sql`null`
          : known === undefined
            ? sql`(select json_build_object('ready', count(*) filter (where ready), 'notReady', count(*) filter (where not ready))::text
                from (select ${ready} as ready ${from} offset 0) each)`
            : sql`(select json_build_object(${known ? "ready" : "notReady"}::text, ${page.pagination.total}::int,
                ${known ? "notReady" : "ready"}::text, greatest((${total}) - ${page.pagination.total}::int, 0))::text)`
        const [counts] = yield* search((pool) =>
          Effect.orDie(
            pool<{ readonly found: boolean; readonly counts: Encoded<ReadinessCounts> | null }>`
              select ${found} as found, ${counted} as counts`.unprepared
          )
        )
        return { found: counts!.found, page: { ...page, counts: counts!.counts ?? uncounted } }
      })

      const ofProduct = Effect.fnUntraced(function* (uuid: ProductId, request: Listing.ListRequest) {
        const { locales, variables } = yield* templateOf(uuid)
        const product = variables.some(({ source }) => source === "product")
          ? sql`(select ${objectOf(productColumns, rootsOf(variables, "product"))} from products t where t.uuid = ${uuid}::uuid)`
          : none
        const bound: Bound = {
          variables: sql`${JSON.stringify(variables.map(withWay))}::jsonb`,
          locales: sql`${JSON.stringify(locales)}::jsonb`,
          location: objectOf(locationColumns, rootsOf(variables, "location")),
          product,
          locale: row("locale"),
          steps: none,
          texts: variables.map((variable) => textOf(variable, locationColumns, product))
        }
        const { page } = yield* read(branches.list, request, {
          name: `readiness of ${uuid}`,
          table: sql.literal("locations"),
          columns: columnsOf(BranchReadiness, { ready: readySql(bound), problems: problemsSql(bound) }),
          // An array, because PostgreSQL would expect most locations in the set, and read all of them.
          where: (branch) => sql`${branch} = any (array(${allowed(mayUse("resource", uuid))}))`,
          ready: readySql(bound),
          found: sql`true`
        })
        return page
      })

      const ofLocation = Effect.fnUntraced(function* (uuid: LocationId, request: Listing.ListRequest) {
        const template = moduleSql("template")
        const bound: Bound = {
          variables: sql`coalesce(${template}->'variables', '[]')`,
          locales: sql`coalesce(${template}->'locales', '[]')`,
          location: sql`(select ${objectOf(locationColumns)} from locations t where t.uuid = ${uuid}::uuid)`,
          product: sql`case when jsonb_path_exists(${template}, '$.variables[*].source ? (@ == "product")')
            then ${objectOf(productColumns)} end`,
          locale: sql`(select locale from locations where uuid = ${uuid}::uuid)`,
          steps
        }
        const hasTemplate = sql`t.uuid in (select p.uuid from product_modules m
          join products p on m.product_uuid in (p.uuid, p.parent_uuid) where m.module = 'template')`
        const { found, page } = yield* read(products.list, request, {
          name: `readiness of ${uuid}`,
          table: sql.literal("products"),
          columns: columnsOf(ProductReadiness, { ready: readySql(bound), problems: problemsSql(bound) }),
          where: () => sql`(${hasTemplate} and ${isForLocation(mayUse("subject", uuid))})`,
          ready: readySql(bound),
          found: sql`exists (select from locations where uuid = ${uuid}::uuid)`
        })
        return found ? page : yield* LocationNotFoundError.of(uuid)
      })

      return traced(Readiness, { ofProduct, ofLocation })
    })
  )
}

/** A list of records `t` with their readiness. */
interface Readable {
  readonly name: string
  readonly table: Fragment
  readonly columns: ReadonlyArray<Column>
  /** Whether the record with this uuid is in the list. */
  readonly where: (uuid: Fragment) => Fragment
  readonly ready: Fragment
  readonly found: Fragment
}

/** Which branches may use which products, for one of them. */
const mayUse = (fixed: Question["fixed"], uuid: string): Question => ({
  resource: "products",
  subject: "locations",
  fixed,
  uuid: sql`${uuid}::uuid`
})

const none = sql`null::jsonb`
const uncounted = encodedOf<ReadinessCounts>({})

const isCounted = ({ after, total = after === undefined }: Listing.ListRequest) => total

/** Which records a list has, if its only condition is that they are ready or not. */
const readyAlone = ({ filter = [] }: Listing.ListRequest) => {
  const [condition] = filter
  return filter.length === 1 &&
    condition?.field === "ready" &&
    condition.operator === "equals" &&
    condition.not !== true
    ? condition.value === true
    : undefined
}

const withDefaults = (request: Listing.ListRequest): Listing.ListRequest => ({
  ...request,
  sortBy: request.sortBy ?? "name",
  sortOrder: request.sortOrder ?? "asc"
})
