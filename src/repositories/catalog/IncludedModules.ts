import { Array as Arr, Effect } from "effect"
import type { Json } from "../../domain/schema/Json.ts"
import type { Product } from "../../domain/catalog/Product.ts"
import { pick, type Selection } from "../../domain/query/Selection.ts"
import { type Encoded, encodedArray, encodedOf, type EncodedPage } from "../../domain/schema/Encoded.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { maxAnswerBytes, maxSmallBytes } from "../../sql/lists/AnswerSizes.ts"
import { type ListRequest, tooMuch } from "../../sql/lists/Listing.ts"
import type { Sql } from "../../sql/Sql.ts"
import type { ModuleReads } from "./ModuleReads.ts"
import type { Visibility } from "./ModuleReferences.ts"

const name = "modules"

const mebibyte = 1024 * 1024

/** How many bytes an answer takes, and how many of its products have their modules read together. */
interface Limits {
  readonly together: number
  /** Of the stored settings and of the variants, which are completed and resolved here. */
  readonly settings: number
  readonly answer: number
}

/** An answer that exceeds these takes the turn of large pages. */
const small: Limits = { together: Infinity, settings: mebibyte / 2, answer: maxSmallBytes }

/** Fewer together, because the names of their files may have megabytes. */
const large: Limits = { together: 25, settings: 4 * mebibyte, answer: maxAnswerBytes }

/** What exceeds its limit. */
interface Exceeded {
  readonly products: number
  readonly mebibytes: number
}

const exceeded = (products: number, bytes: number) => Effect.fail<Exceeded>({ products, mebibytes: bytes / mebibyte })

/** Whether the answer has modules, and they are to be whole. */
const isAsked = ({ fields = [name], include = [] }: Selection) =>
  include.includes(name) && fields.some((path) => path.split(".")[0] === name)

/** What is read of the products themselves. */
const ofProducts = <S extends Selection>(selection: S): S => ({
  ...selection,
  fields: selection.fields?.map((path) => (path.startsWith(`${name}.`) ? name : path)),
  include: selection.include?.filter((included) => included !== name)
})

const pageTooLarge = ({ mebibytes, products }: Exceeded) => Effect.die(tooMuch(products, mebibytes))

const oneTooLarge = ({ mebibytes }: Exceeded) =>
  Effect.die(
    InvalidRequestError.at(
      "query",
      "include",
      "tooMuch",
      `The modules of this product have more than ${mebibytes} MiB; read them with GET /v1/products/{uuid}/modules/{module}`
    )
  )

interface Shown {
  readonly uuid: string
  readonly modules: ReadonlyArray<Json & { readonly module: string; readonly active: boolean }>
}

/**
 * Puts the whole module in the place of each active one in products. A module is completed and its references are resolved
 * by its definition, which the statement of the products cannot do; those of the products of a small page are read together.
 */
export const make = ({ getAll }: Pick<ModuleReads, "getAll">, { largePages }: Pick<Sql["Service"], "largePages">) => {
  const extendWithin = Effect.fnUntraced(function* (
    limits: Limits,
    data: string,
    { fields = [name] }: Selection,
    visibility: Visibility
  ) {
    const products: ReadonlyArray<Shown> = JSON.parse(data)
    const paths = fields.map((path) => path.split(".")).flatMap(([first, ...rest]) => (first === name ? [rest] : []))
    const extended: Array<Encoded<Product>> = []
    let answer = 1
    let settings = 0
    for (const some of Arr.chunksOf(products, limits.together)) {
      const uuids = some.map(({ uuid }) => uuid)
      const read = yield* getAll(uuids, visibility, limits.settings - settings)
      if (read === undefined) return yield* exceeded(products.length, limits.settings)
      settings += read.bytes
      for (const { modules, ...product } of some) {
        const one = encodedOf<Product>({
          ...product,
          modules: modules.map((module) =>
            pick({ ...module, ...read.modules.get(`${product.uuid} ${module.module}`) }, paths)
          )
        })
        answer += Buffer.byteLength(one) + 1
        if (answer > limits.answer) return yield* exceeded(products.length, limits.answer)
        extended.push(one)
        // Other requests run in between.
        if (limits === large) yield* Effect.yieldNow
      }
    }
    return extended
  })

  /** The products of a JSON array with their modules, each as JSON. */
  const extend = (data: string, selection: Selection, visibility: Visibility) => {
    const within = (limits: Limits) => extendWithin(limits, data, selection, visibility)
    const inTurn = largePages(within(large))
    return data.length > small.answer ? inTurn : Effect.catch(within(small), () => inTurn)
  }

  const page = Effect.fnUntraced(function* <E>(
    request: ListRequest,
    visibility: Visibility,
    list: (request: ListRequest) => Effect.Effect<EncodedPage<Product>, E>
  ) {
    if (!isAsked(request)) return yield* list(request)
    const page = yield* list(ofProducts(request))
    const products = yield* extend(page.data, request, visibility).pipe(Effect.catch(pageTooLarge))
    return { ...page, data: encodedArray(products) }
  })

  const one = Effect.fnUntraced(function* <E>(
    selection: Selection,
    visibility: Visibility,
    get: (selection: Selection) => Effect.Effect<Encoded<Product>, E>
  ) {
    if (!isAsked(selection)) return yield* get(selection)
    const product = yield* get(ofProducts(selection))
    const [extended] = yield* extend(encodedArray([product]), selection, visibility).pipe(Effect.catch(oneTooLarge))
    return extended!
  })

  return { page, one }
}
