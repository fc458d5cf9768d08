import { Schema, SchemaTransformation } from "effect"
import { inRange } from "../domain/schema/WholeNumber.ts"
import { Filter } from "../domain/query/Filter.ts"
import { Include } from "../domain/query/Include.ts"
import { maxLimit } from "../domain/query/PageLimit.ts"
import { Fields } from "../domain/query/Selection.ts"
import { defaults } from "../domain/query/Pagination.ts"

/** A whole number in a query string. `NumberFromString` would read `""` as 0, `0x10` as 16 and `abc` as NaN. */
export const integer = (minimum: number, maximum: number, fallback: number) =>
  Schema.String.check(
    Schema.isPattern(/^[0-9]{1,16}$/, { expected: `a whole number from ${minimum} to ${maximum}`, code: "wrongType" })
  ).pipe(
    Schema.decodeTo(
      Schema.Int.check(inRange(minimum, maximum)).annotate({ default: fallback }),
      SchemaTransformation.transform({ decode: Number, encode: String })
    )
  )

/** The direction of an order, in any case of letters. */
export const direction = (fallback: "asc" | "desc") =>
  Schema.String.pipe(
    Schema.decodeTo(
      Schema.Literals(["asc", "desc"]).annotate({ default: fallback }),
      SchemaTransformation.transform({
        decode: (order: string) => order.toLowerCase() as "asc" | "desc",
        encode: (order): string => order
      })
    )
  )

/** `true` or `false` in a query string. */
const boolean = (annotations: { readonly default?: boolean; readonly description: string }) =>
  Schema.Literals(["true", "false"]).pipe(
    Schema.decodeTo(
      Schema.Boolean.annotate(annotations),
      SchemaTransformation.transform({
        decode: (text) => text === "true",
        encode: (value) => (value ? ("true" as const) : ("false" as const))
      })
    )
  )

/** `true` or `false` in a query string; `false` unless given. */
export const flag = (description: string) => boolean({ default: false, description })

/** The query parameter that selects members of a record. */
export const fields = (...schemas: ReadonlyArray<Schema.Top>) => ({ fields: Schema.optionalKey(Fields(...schemas)) })

/** The query parameter that asks for members which are only answered on request. */
export const includable = <const Names extends ReadonlyArray<string>>(names: Names) => ({
  include: Schema.optionalKey(Include(names))
})

/** What the parameters do that several lists have; a schema can describe its own differently. */
export const descriptions = {
  limit: "The number of records of a page.",
  page: "The page, from 1. A page after the end is empty and has the exact total.",
  sortBy: "The field to sort by. Records without the value come last.",
  sortOrder: "The direction, in upper or lower case; ties are broken by uuid, so pages never overlap."
}

/** The query parameters of a list whose pages have numbers. */
export const pages = {
  limit: Schema.optionalKey(integer(1, maxLimit, defaults.limit)),
  page: Schema.optionalKey(integer(1, Number.MAX_SAFE_INTEGER, defaults.page))
}

/**
 * The query of a list of records: paging, sorting by one of `sortable`, the filter over the record's fields, and the
 * selection of members of it or of the `answered` records, which can have more.
 */
export const ListQuery = <const Sortable extends ReadonlyArray<string>>(
  record: Schema.Top,
  sortable: Sortable,
  ...answered: ReadonlyArray<Schema.Top>
) => ({
  ...pages,
  after: Schema.optionalKey(
    Schema.String.annotate({
      description:
        "Instead of `page`: empty to begin, then `pagination.next` of the answer before. No record that stays is missed or repeated while others are written, and a page of a list without `filter`, `search`, `category`, `near`, `bounds` and `openAt` costs the same at any place."
    })
  ),
  total: Schema.optionalKey(
    boolean({ description: "Whether records are counted; by default with `page`, and not with `after`." })
  ),
  sortBy: Schema.optionalKey(Schema.Literals(sortable).annotate({ default: defaults.sortBy })),
  sortOrder: Schema.optionalKey(direction(defaults.sortOrder)),
  filter: Schema.optionalKey(Filter(record)),
  ...fields(record, ...answered)
})
