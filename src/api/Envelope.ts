import { Schema, SchemaTransformation } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { Pagination } from "../domain/query/Pagination.ts"

/**
 * The envelope of every successful answer: `{ _tag: "Success", data }` on the wire, the plain value in handlers and in
 * the typed client. So no handler wraps and no client unwraps.
 */
const Tag = Schema.tag("Success")

/** One record. */
export const One = <S extends Schema.Top>(record: S) =>
  Schema.Struct({ _tag: Tag, data: record }).pipe(
    // The plain side carries no name: it would otherwise give its own to the envelope in the OpenAPI document.
    Schema.decodeTo(
      Schema.toType(record).annotate({ identifier: undefined }) as unknown as Schema.Codec<S["Type"]>,
      SchemaTransformation.transform({
        decode: ({ data }: { readonly data: S["Type"] }) => data,
        encode: (data: S["Type"]) => ({ _tag: "Success" as const, data })
      }) as never
    )
  )

/** A page of a list. */
export const Page = <S extends Schema.Top>(record: S) => {
  const page = { data: Schema.Array(record), pagination: Pagination }
  return Schema.Struct({ _tag: Tag, ...page }).pipe(
    Schema.decodeTo(
      Schema.toType(Schema.Struct(page)) as unknown as Schema.Codec<{
        readonly data: ReadonlyArray<S["Type"]>
        readonly pagination: Pagination
      }>,
      SchemaTransformation.transform({
        decode: ({
          data,
          pagination
        }: {
          readonly data: ReadonlyArray<S["Type"]>
          readonly pagination: Pagination
        }) => ({ data, pagination }),
        encode: (value: { readonly data: ReadonlyArray<S["Type"]>; readonly pagination: Pagination }) => ({
          _tag: "Success" as const,
          ...value
        })
      }) as never
    )
  )
}

/** What a write answers: the uuid of the record it touched. */
export const Written = <Id extends Schema.Top>(id: Id) => One(Schema.Struct({ uuid: id }))

/** What a creation answers. */
export const Created = <Id extends Schema.Top>(id: Id) => Written(id).pipe(HttpApiSchema.status(201))

/** A creation that answers more than the uuid. */
export const CreatedRecord = <S extends Schema.Top>(record: S) => One(record).pipe(HttpApiSchema.status(201))
