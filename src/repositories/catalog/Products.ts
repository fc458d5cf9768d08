import { Context, Effect, Layer, type Option } from "effect"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import { DuplicateIdentifierError } from "../../domain/locations/Location.ts"
import { type PartialProduct, Product, type ProductCreate, ProductNotFoundError } from "../../domain/catalog/Product.ts"
import type { ProductId } from "../../domain/catalog/ProductId.ts"
import type { Selection } from "../../domain/query/Selection.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import * as IncludedModules from "./IncludedModules.ts"
import { noVisibility, type Visibility } from "./ModuleReferences.ts"
import { computedOf, relatedOf } from "./ProductColumns.ts"
import { ProductModules } from "./ProductModules.ts"
import { deletions, hasVariants } from "./VariantDeletions.ts"
import { leave } from "../../sql/batch/Batch.ts"
import type { Batch } from "../../sql/batch/BatchTypes.ts"
import type { EncodedPage } from "../../domain/schema/Encoded.ts"
import type { ListRequest } from "../../sql/lists/Listing.ts"
import * as Records from "../../sql/Records.ts"
import type { Answer } from "../access/Audiences.ts"
import { Sql } from "../../sql/Sql.ts"
import { byConstraint } from "../../sql/SqlErrors.ts"
import { transaction } from "../../sql/Transactions.ts"
import { traced } from "../../sql/Traced.ts"

type Rejected = ProductNotFoundError | DuplicateIdentifierError | InvalidLocaleError | InvalidRequestError

type Repository = Records.Repository<{
  kind: "products"
  record: Product
  create: ProductCreate
  patch: PartialProduct
  notFound: ProductNotFoundError
  rejected: { create: Rejected; update: Rejected; delete: InvalidRequestError }
}>

/** The products, in PostgreSQL. One whose active modules have problems is not published; one with variants is not deleted. */
export class Products extends Context.Service<
  Products,
  Omit<Repository, "get" | "list"> & {
    /** The visibility is that of names in included modules. */
    get(uuid: ProductId, selection?: Selection, visibility?: Visibility): ReturnType<Repository["get"]>
    list(request: ListRequest, visibility?: Visibility): ReturnType<Repository["list"]>
    readonly bulk: Batch
    /** A page of the products that are the answer to a question of access, if its record exists. */
    listWithin(
      answer: Answer,
      request: ListRequest,
      visibility: Visibility
    ): Effect.Effect<Option.Option<EncodedPage<Product>>>
  }
>()("waypost/repositories/catalog/Products") {
  static readonly layer = Layer.effect(
    Products,
    Effect.gen(function* () {
      const locales = yield* Locales
      const modules = yield* ProductModules
      const sql = yield* Sql
      const { pooled } = sql
      const included = IncludedModules.make(modules, sql)
      const computed = computedOf(yield* PublicUrl)
      const records = yield* Records.make({
        kind: "products",
        table: "products",
        record: Product,
        notFound: ProductNotFoundError,
        computed,
        related: relatedOf(computed)
      })

      const validLocales = ({ translations }: PartialProduct) =>
        Effect.forEach(translations ?? [], ({ locale }) => locales.check(locale), { discard: true })

      /** The parent must be there; that it is one that can have variants is held by the table. */
      const knownParent = Effect.fnUntraced(function* ({ parentUuid }: PartialProduct) {
        if (typeof parentUuid !== "string") return
        const found = yield* pooled`select 1 from products where uuid = ${parentUuid}`
        if (found.length === 0) return yield* ProductNotFoundError.of(parentUuid)
      })

      const publishable = Effect.fnUntraced(function* (uuid: string, { status }: PartialProduct) {
        const problems = status === "published" ? yield* modules.problems(uuid) : []
        if (problems.length > 0) return yield* InvalidRequestError.of(problems)
      })

      const statusOf = (uuid: ProductId) =>
        Effect.map(
          pooled<{ readonly status: string }>`select status from products where uuid = ${uuid} for no key update`,
          ([row]) => row?.status
        )

      // Variants depend on their parent, and publishing on the modules.
      const bulk = records.batch({
        key: { member: "identifier" },
        create: Effect.fnUntraced(function* (product: ProductCreate) {
          if (typeof product.parentUuid === "string" || product.status === "published") return yield* leave
          yield* validLocales(product)
          yield* fitsType(product)
          return withDefaults(product)
        }),
        update: Effect.fnUntraced(function* (patch: PartialProduct) {
          if ([patch.parentUuid, patch.optionValues, patch.status].some((value) => value !== undefined))
            return yield* leave
          yield* validLocales(patch)
          return withList(patch)
        }),
        deletes: false
      })

      return traced(Products, {
        bulk: { ...bulk, comparison: bulk.comparison && { ...bulk.comparison, deletions } },
        get: (uuid, selection = {}, visibility = noVisibility) =>
          included.one(selection, visibility, (selection) => records.get(uuid, selection)),
        list: (request, visibility = noVisibility) => included.page(request, visibility, records.list),
        listWithin: (answer, request, visibility) =>
          Effect.option(
            included.page(request, visibility, (request) =>
              Effect.flatMap(records.listWithin(answer.scope, request, answer), Effect.fromOption)
            )
          ),
        create: Effect.fnUntraced(
          function* (product) {
            yield* knownParent(product)
            yield* validLocales(product)
            yield* fitsType(product)
            const complete = withDefaults(product)
            const written = yield* records.insert(complete).pipe(constraintErrors(complete))
            yield* publishable(written.uuid, product)
            return written
          },
          (write) => transaction(pooled, write)
        ),
        update: Effect.fnUntraced(
          function* (uuid, patch, precondition) {
            yield* records.checkPrecondition(uuid, precondition)
            yield* knownParent(patch)
            yield* validLocales(patch)
            const before = yield* statusOf(uuid)
            const written = yield* records.patch(uuid, withList(patch), precondition).pipe(constraintErrors(patch))
            if (before !== "published") yield* publishable(uuid, patch)
            return written
          },
          (write) => transaction(pooled, write)
        ),
        delete: Effect.fnUntraced(
          function* (uuid, precondition) {
            yield* records.checkPrecondition(uuid, precondition)
            const [row] = yield* pooled<{ readonly variants: number }>`
            select count(*)::int as variants from products where parent_uuid = ${uuid}`
            if (row!.variants > 0) return yield* hasVariants(row!.variants)
            // A variant that was added since breaks the reference to its parent; the transaction is tried again.
            return yield* records.remove(uuid, precondition)
          },
          (write) => transaction(pooled, write)
        )
      })
    })
  )
}

const withDefaults = (product: ProductCreate) => ({
  status: "draft" as const,
  position: 0,
  ...product,
  translations: product.translations ?? []
})

const withList = (patch: PartialProduct) => (patch.translations === null ? { ...patch, translations: [] } : patch)

/** What a variant needs and no other product has; the table checks it too, and reports one problem at a time. */
const fitsType = (product: ProductCreate) => {
  const isVariant = product.type === "variant"
  const issues = (["parentUuid", "optionValues"] as const)
    .filter((member) => isVariant === (product[member] === undefined || product[member] === null))
    .map((path) =>
      isVariant
        ? { in: "body" as const, path, code: "required", message: `A variant needs ${path}` }
        : { in: "body" as const, path, code: "variantOnly", message: `Only a variant has ${path}` }
    )
  return issues.length === 0 ? Effect.void : Effect.fail(InvalidRequestError.of(issues))
}

/** The rules that the tables hold. */
export const constraintErrors = ({ identifier }: Pick<PartialProduct, "identifier">) =>
  byConstraint({
    products_identifier_key: () => DuplicateIdentifierError.of(identifier ?? ""),
    products_combination_key: () =>
      InvalidRequestError.inBody(
        "optionValues",
        "notUnique",
        "Another variant of the same parent already has this combination"
      ),
    products_parent: () =>
      InvalidRequestError.inBody("parentUuid", "notParent", "The parent must be a product of type variantParent"),
    products_visible: () =>
      InvalidRequestError.inBody("visibleUntil", "notInOrder", "visibleUntil must be after visibleFrom"),
    products_variant_parent: () =>
      InvalidRequestError.inBody("parentUuid", "variantOnly", "A variant, and no other product, has a parentUuid"),
    products_variant_options: () =>
      InvalidRequestError.inBody("optionValues", "variantOnly", "A variant, and no other product, has optionValues"),
    products_variant_limit: () =>
      InvalidRequestError.inBody("parentUuid", "tooMany", "A product has at most 2000 variants"),
    products_type_immutable: () =>
      InvalidRequestError.inBody("type", "immutable", "The type of a product cannot change"),
    products_status_move: () =>
      InvalidRequestError.inBody(
        "status",
        "forbiddenMove",
        "status moves from draft to published, from published to archived, and from archived to draft"
      )
  })
