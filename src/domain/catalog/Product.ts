import { Schema } from "effect"
import { ApiError } from "../write/ApiError.ts"
import { distinct } from "../schema/Distinct.ts"
import { SignedUrl } from "../assets/File.ts"
import { text, Timestamp, Uuid } from "../schema/Fields.ts"
import { AnsweredModuleName } from "./ModuleName.ts"
import { OptionValue } from "./OptionValue.ts"
import { ProductId } from "./ProductId.ts"
import { notFound, notFoundError } from "../write/NotFound.ts"
import { sentText, translations } from "../schema/Translations.ts"
import { Count, int } from "../schema/WholeNumber.ts"
import { defaulted, readOnly, references, writtenAs } from "../write/Markers.ts"
import * as Shape from "../write/Shape.ts"

export const ProductType = Schema.Literals(["default", "variantParent", "variant"])
export type ProductType = typeof ProductType.Type

const description = text(10_000, { multiline: true })

const Translations = translations({ name: text(255), description: Schema.optionalKey(description) }).pipe(
  writtenAs(Schema.optionalKey(Schema.NullOr(translations({ name: text(255), description: sentText(description) }))))
)

/** One value per option, at most five of them. */
const OptionValues = Schema.Array(OptionValue).check(
  Schema.isMinLength(1, { expected: "at least one option", code: "tooFew" }),
  Schema.isMaxLength(5, { expected: "at most 5 options", code: "tooMany" }),
  Schema.makeFilter<ReadonlyArray<typeof OptionValue.Type>>(
    (values) => new Set(values.map(({ option }) => option)).size === values.length,
    { expected: "at most one value per option", code: "duplicate" }
  )
)

/** Something the portal offers. What can be done with it is said by its modules. */
export const Product = Schema.Struct({
  uuid: readOnly(ProductId),
  type: ProductType.annotate({ description: "Immutable. A variant belongs to a variantParent." }),
  identifier: text(100).pipe(
    Schema.annotateEncoded({ description: "The article number; unique among products.", examples: ["FLY-A5"] })
  ),
  name: text(255).pipe(Schema.annotateEncoded({ description: "In the default locale.", examples: ["Flyer A5"] })),
  description: Schema.optionalKey(description),
  translations: Translations,
  status: defaulted(
    Schema.Literals(["draft", "published", "archived"]).annotate({
      description:
        "Moves from draft to published, from there to archived, and back to draft. Publishing checks every active module."
    })
  ),
  categories: distinct(text(100), 50, "categories"),
  tags: distinct(text(50), 100, "tags"),
  thumbnailUrl: Schema.optionalKey(
    readOnly(
      SignedUrl.annotate({
        description:
          "The thumbnail of the first file in the role `preview`, or else of the first image; of a variant without a `files` module of its own, that of its parent. Needs no key."
      })
    )
  ),
  visibleFrom: Schema.optionalKey(Timestamp),
  visibleUntil: Schema.optionalKey(Timestamp),
  position: defaulted(int(0, 1_000_000)),
  modules: Schema.Array(
    Schema.Struct({
      module: AnsweredModuleName,
      active: Schema.Boolean,
      inherited: Schema.Boolean.annotate({ description: "Whether it is the parent's." })
    })
  )
    .annotate({ description: "All modules a product of this type can have." })
    .pipe(readOnly),
  parentUuid: Schema.optionalKey(
    ProductId.pipe(Schema.annotateEncoded({ description: "Of a variant: the variantParent it belongs to." }))
  ).pipe(references("products")),
  optionValues: Schema.optionalKey(
    OptionValues.pipe(
      Schema.annotateEncoded({ description: "Of a variant: the combination that no other variant of its parent has." })
    )
  ),
  variantCount: Schema.optionalKey(readOnly(Count.annotate({ description: "Of a variantParent." }))),
  defaultVariantUuid: Schema.optionalKey(
    readOnly(Uuid.pipe(Schema.annotateEncoded({ description: "Of a variantParent: as its variants module says." })))
  ),
  createdAt: readOnly(Timestamp),
  editedAt: readOnly(Timestamp)
}).annotate({ identifier: "ProductRecord" })
export type Product = typeof Product.Type

/** The optional members that every product of a type has. */
export const membersOfType: Readonly<Record<ProductType, ReadonlyArray<keyof Product>>> = {
  default: [],
  variantParent: ["variantCount"],
  variant: ["parentUuid", "optionValues"]
}

/** What creates a product; by default it is a draft at position 0. */
export const ProductCreate = Shape.create(Product).annotate({
  identifier: "ProductCreate"
})
export type ProductCreate = typeof ProductCreate.Type

export const PartialProduct = Shape.patch(Product).annotate({ identifier: "PartialProduct" })
export type PartialProduct = typeof PartialProduct.Type

export class ProductNotFoundError extends ApiError<ProductNotFoundError>()(...notFoundError("ProductNotFoundError")) {
  static of = (uuid: string) => new ProductNotFoundError(notFound("product", uuid))
}

/** The fields a list of products can be sorted by; each has an index that ends in the uuid. */
export const sortable = ["name", "identifier", "type", "status", "position", "createdAt", "editedAt"] as const
