import { Record, Schema } from "effect"
import { ApiError } from "./ApiError.ts"
import { anyJsonLike } from "../schema/Fields.ts"

/** How many operations a bulk request has at most, and how many bytes its body and the data of one operation. */
export const maxOperations = 1000
export const maxBulkBytes = 8 * 1024 * 1024
export const maxDataBytes = 1024 ** 2

/** An operation that would have succeeded, in a request that did nothing because another one failed. */
export class NotAppliedError extends ApiError<NotAppliedError>()(
  "NotAppliedError",
  { message: Schema.String },
  { httpApiStatus: 424 }
) {}

export const Mode = Schema.Literals(["independent", "atomic"])

/** A record, or a part of one, that is decoded for each operation by itself, so that the others can succeed. */
const sent = <S extends Schema.Top>(shape: S) => anyJsonLike(shape) as unknown as Schema.Codec<S["Encoded"]>

/** What creates a record or patches it, by whether its key exists: the members of both, none of them required. */
const upserted = (create: Shape, patch: Shape): Schema.Top =>
  Schema.Struct({
    ...Record.map(create.fields, (field) => Schema.optionalKey(field as Schema.Top)),
    ...patch.fields
  })

export interface Shape extends Schema.Top {
  readonly fields: Schema.Struct.Fields
}

type Upserted<Create, Patch> = Omit<Partial<Create>, keyof Patch> & Patch

/** The operations on the records of any resource. */
export const operationsOf = <Id extends Schema.Top, Create extends Shape, Patch extends Shape>(
  id: Id,
  create: Create,
  patch: Patch
) => {
  const ifMatch = Schema.optionalKey(
    Schema.String.annotate({ description: "The `ETag` of the record that was read, as in the header `If-Match`." })
  )
  return [
    Schema.Struct({ op: Schema.Literal("create"), data: sent(create) }),
    Schema.Struct({ op: Schema.Literal("update"), uuid: id, data: sent(patch), ifMatch }),
    Schema.Struct({ op: Schema.Literal("delete"), uuid: id, ifMatch })
  ] as const
}

/** The operation that compares the member `key`; the resource is `name` in the names of the schemas. */
export const upsertOf = <Create extends Shape, Patch extends Shape>(
  name: string,
  create: Create,
  patch: Patch,
  key: string
) =>
  Schema.Struct({
    op: Schema.Literal("upsert"),
    key: Schema.String.annotate({
      description: `The \`${key}\` of the record to patch, or to create if there is none.`
    }),
    data: sent(upserted(create, patch).annotate({ identifier: `${name}Upsert` })).annotate({
      description: `A new record needs the members that a creation needs; \`${key}\` can be left out. A record that exists is patched.`
    }) as unknown as Schema.Codec<Upserted<Create["Encoded"], Patch["Encoded"]>>
  })

/** An operation, before its data is decoded. */
export type Operation =
  | { readonly op: "create"; readonly data: unknown }
  | { readonly op: "update"; readonly uuid: string; readonly data: unknown; readonly ifMatch?: string }
  | { readonly op: "upsert"; readonly key: string; readonly data: unknown }
  | { readonly op: "delete"; readonly uuid: string; readonly ifMatch?: string }

/** What an operation would have answered by itself. */
export interface Outcome {
  readonly index: number
  readonly status: number
  readonly uuid?: string
  readonly error?: object
}
