import { Schema } from "effect"
import { Product } from "../catalog/Product.ts"
import { ProductId } from "../catalog/ProductId.ts"
import { Location, LocationId } from "../locations/Location.ts"
import { openWords } from "../schema/OpenWords.ts"
import { Count } from "../schema/WholeNumber.ts"

/** What keeps a branch from using a template. */
export const readinessCodes = ["noLocale", "noImage", "missing", "wrongType", "tooLong", "notAChoice"] as const
export type ReadinessCode = (typeof readinessCodes)[number]

const ReadinessProblem = Schema.Struct({
  variable: Schema.optionalKey(
    Schema.String.annotate({ description: "The key of the variable; absent with `noLocale`.", examples: ["phone"] })
  ),
  path: Schema.String.annotate({
    description:
      "The member of the location or of the product that the variable reads; of other sources, the place in the template module.",
    examples: ["contact.phone"]
  }),
  code: openWords(readinessCodes).annotate({ examples: ["missing"] }),
  message: Schema.String.annotate({ examples: ["contact.phone of the location is not set; the template needs it"] })
}).annotate({ identifier: "ReadinessProblem" })

const verdict = {
  ready: Schema.Boolean.annotate({ description: "Whether there are no problems." }),
  problems: Schema.Array(ReadinessProblem).annotate({
    description: "In the order of the variables of the template, at most one of each."
  })
}

const { identifier: branchIdentifier, name: branchName } = Location.fields
const { identifier, name, status, type } = Product.fields

/** A branch, and what keeps it from using the template of a product. */
export const BranchReadiness = Schema.Struct({
  uuid: LocationId,
  name: branchName,
  identifier: branchIdentifier,
  ...verdict
}).annotate({ identifier: "BranchReadiness" })
export type BranchReadiness = typeof BranchReadiness.Type

/** A product with a template, and what keeps a branch from using it. */
export const ProductReadiness = Schema.Struct({
  uuid: ProductId,
  name,
  identifier,
  type,
  status,
  ...verdict
}).annotate({ identifier: "ProductReadiness" })
export type ProductReadiness = typeof ProductReadiness.Type

/** The members by which both lists are sorted. */
export const sortable = ["name", "identifier"] as const

export const ReadinessCounts = Schema.Struct({
  ready: Schema.optionalKey(Count),
  notReady: Schema.optionalKey(Count)
}).annotate({
  identifier: "ReadinessCounts",
  description: "How many are ready, whatever the filter is; empty where the records are not counted.",
  examples: [{ ready: 4812, notReady: 188 }]
})
export type ReadinessCounts = typeof ReadinessCounts.Type
