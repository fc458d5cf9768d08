import { Effect, Schema, SchemaGetter, SchemaTransformation } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { Pagination } from "../domain/query/Pagination.ts"
import { codecOf } from "../domain/schema/Codec.ts"

/**
 * The envelope of every success: `{ _tag: "Success", data }` on the wire, the plain value in handlers and in the typed
 * client, so that neither wraps nor unwraps it.
 */
const Tag = Schema.tag("Success")

/** One record. */
export const One = <S extends Schema.Top>(record: S) => {
  const data = codecOf(record)
  return Schema.Struct({ _tag: Tag, data }).pipe(
    Schema.decodeTo(
      // Without its name, which the OpenAPI document would otherwise give to the envelope.
      Schema.toType(data).annotate({ identifier: undefined }),
      SchemaTransformation.transform({
        decode: ({ data }) => data,
        encode: (data) => ({ _tag: "Success" as const, data })
      })
    )
  )
}

/** The tag next to the members of a page: required on the wire, absent in the plain value. */
const PageTag = Tag.pipe(
  Schema.decodeTo(Schema.optionalKey(Schema.Never), {
    decode: SchemaGetter.required<"Success">().pipe(SchemaGetter.compose(SchemaGetter.omit())),
    encode: SchemaGetter.withDefault(Effect.succeed("Success" as const))
  })
)

/** A page of a list. */
export const Page = <S extends Schema.Top>(record: S) =>
  Schema.Struct({ _tag: PageTag, data: Schema.Array(codecOf(record)), pagination: Pagination })

/** A page of a list, and counts of its records. */
export const CountedPage = <S extends Schema.Top, C extends Schema.Top>(record: S, counts: C) =>
  Schema.Struct({
    _tag: PageTag,
    data: Schema.Array(codecOf(record)),
    counts: codecOf(counts),
    pagination: Pagination
  })

/** Records of the change log, and the cursor behind the last of them. */
export const CursorPage = <S extends Schema.Top>(record: S) =>
  Schema.Struct({
    _tag: PageTag,
    data: Schema.Array(codecOf(record)),
    cursor: Schema.String.annotate({ description: "The position up to which the log was read, for `after`." }),
    more: Schema.Boolean.annotate({
      description: "Whether there may be more behind the cursor; a page can be empty and have more behind it."
    })
  })

/** The result of a write: the uuid of the record. */
export const Written = <Id extends Schema.Top>(id: Id) => One(Schema.Struct({ uuid: id }))

/** The result of a creation. */
export const Created = <Id extends Schema.Top>(id: Id) => Written(id).pipe(HttpApiSchema.status(201))

/** The result of a creation that answers with more than the uuid. */
export const CreatedRecord = <S extends Schema.Top>(record: S) => One(record).pipe(HttpApiSchema.status(201))
