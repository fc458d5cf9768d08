import { Effect } from "effect"
import type { Json } from "../../domain/schema/Json.ts"
import type { Product } from "../../domain/catalog/Product.ts"
import { pick, type Selection } from "../../domain/query/Selection.ts"
import { type Encoded, encodedOf, type EncodedPage } from "../../domain/schema/Encoded.ts"
import { type ListRequest, tooMuch } from "../../sql/lists/Listing.ts"
import { maxMebibytes, type ModuleReads } from "./ModuleReads.ts"
import type { Visibility } from "./ModuleReferences.ts"

const name = "modules"

/** Whether the answer has modules, and they are to be whole. */
const isAsked = ({ fields = [name], include = [] }: Selection) =>
  include.includes(name) && fields.some((path) => path.split(".")[0] === name)

/** What is read of the products themselves. */
const ofProducts = <S extends Selection>(selection: S): S => ({
  ...selection,
  fields: selection.fields?.map((path) => (path.startsWith(`${name}.`) ? name : path)),
  include: selection.include?.filter((included) => included !== name)
})

interface Shown {
  readonly uuid: string
  readonly modules: ReadonlyArray<Json & { readonly module: string; readonly active: boolean }>
}

/**
 * Puts the whole module in the place of each active one in products. A module is completed and its references are resolved
 * by its definition, which the statement of the products cannot do; those of all products are read together.
 */
export const make = ({ getAll }: Pick<ModuleReads, "getAll">) => {
  const extend = Effect.fnUntraced(function* (
    products: ReadonlyArray<Shown>,
    { fields = [name] }: Selection,
    visibility: Visibility
  ) {
    const paths = fields.map((path) => path.split(".")).flatMap(([first, ...rest]) => (first === name ? [rest] : []))
    const uuids = products.map(({ uuid }) => uuid)
    const whole = yield* Effect.fromNullishOr(yield* getAll(uuids, visibility)).pipe(
      Effect.catch(() => Effect.die(tooMuch(products.length, maxMebibytes)))
    )
    return products.map(({ modules, ...product }) => ({
      ...product,
      modules: modules.map((module) => pick({ ...module, ...whole.get(`${product.uuid} ${module.module}`) }, paths))
    }))
  })

  const page = Effect.fnUntraced(function* <E>(
    request: ListRequest,
    visibility: Visibility,
    list: (request: ListRequest) => Effect.Effect<EncodedPage<Product>, E>
  ) {
    if (!isAsked(request)) return yield* list(request)
    const page = yield* list(ofProducts(request))
    const shown: ReadonlyArray<Shown> = JSON.parse(page.data)
    const products = yield* extend(shown, request, visibility)
    return { ...page, data: encodedOf<ReadonlyArray<Product>>(products) }
  })

  const one = Effect.fnUntraced(function* <E>(
    selection: Selection,
    visibility: Visibility,
    get: (selection: Selection) => Effect.Effect<Encoded<Product>, E>
  ) {
    if (!isAsked(selection)) return yield* get(selection)
    const product: Shown = JSON.parse(yield* get(ofProducts(selection)))
    const [extended] = yield* extend([product], selection, visibility)
    return encodedOf<Product>(extended)
  })

  return { page, one }
}
