import { Schema, SchemaTransformation } from "effect"
import type { Entity } from "../../domain/keys/Permission.ts"
import { inRange } from "../../domain/schema/WholeNumber.ts"
import { atMost } from "../../domain/schema/Checks.ts"
import { codecOf } from "../../domain/schema/Codec.ts"
import {
  maxBulkBytes,
  maxDataBytes,
  maxOperations,
  Mode,
  NotAppliedError,
  operationsOf,
  type Shape,
  upsertOf
} from "../../domain/write/Bulk.ts"
import { InvalidRequestError, PayloadTooLargeError, PreconditionFailedError } from "../../domain/write/RequestErrors.ts"
import type { Annotatable } from "../Annotations.ts"
import { requiresSome } from "../Authorization.ts"
import { describe } from "../Describe.ts"
import { limits } from "../Limits.ts"
import { answersInFull } from "./SafeWrites.ts"

const Status = Schema.Int.check(inRange(200, 599))

/** A request of three operations, the last of which fails. */
const sample: { readonly data: ReadonlyArray<unknown>; readonly counts: Readonly<Record<string, number>> } = {
  data: [
    { index: 0, status: 201, uuid: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e38" },
    { index: 1, status: 200, uuid: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e39" },
    {
      index: 2,
      status: 400,
      error: {
        _tag: "InvalidRequestError",
        message: "The request is invalid",
        issues: [{ in: "body", path: "name", code: "tooShort", message: "Expected non-empty text" }],
        requestId: "efcc9fca-9cea-4ea4-963d-192de2c84e7a"
      }
    }
  ],
  counts: { 200: 1, 201: 1, 400: 1 }
}

/** The errors that an operation on any resource can have. */
const sharedErrors = [InvalidRequestError, PayloadTooLargeError, PreconditionFailedError, NotAppliedError] as const

/** What each operation answers, and whether the request took effect. */
const Answer = <Id extends Schema.Top, Failure extends Schema.Top>(name: string, id: Id, error: Failure) => {
  const item = Schema.Struct({
    index: Schema.Int.check(inRange(0, maxOperations - 1)).annotate({ description: "The place in `operations`." }),
    status: Status.annotate({ description: "The status that the operation has by itself." }),
    uuid: Schema.optionalKey(codecOf(id)),
    error: Schema.optionalKey(codecOf(error))
  }).annotate({ identifier: `${name}Outcome` })
  const answer = {
    data: Schema.Array(item).annotate({
      description:
        "The outcome of each operation, in their order: `uuid` of the record that it wrote, or the `error` that it has by itself.",
      examples: [sample.data as unknown as ReadonlyArray<typeof item.Type>]
    }),
    applied: Schema.Boolean.annotate({ description: "False if an atomic request did nothing." }),
    counts: Schema.Record(Schema.String, Schema.Int.check(inRange(1, maxOperations))).annotate({
      description: "How many operations have each status.",
      examples: [sample.counts]
    })
  }
  return Schema.Struct({ _tag: Schema.tag("Success"), ...answer }).pipe(
    Schema.decodeTo(
      Schema.toType(Schema.Struct(answer)),
      SchemaTransformation.transform({
        decode: ({ applied, counts, data }) => ({ data, applied, counts }),
        encode: (value) => ({ _tag: "Success" as const, ...value })
      })
    )
  )
}

/** The body of a request with these operations. */
const requestOf = <const Operations extends ReadonlyArray<Schema.Top>>(name: string, operations: Operations) =>
  Schema.Struct({
    mode: Schema.optionalKey(
      Mode.annotate({
        description: "`independent` does what can be done; `atomic` does all or nothing.",
        default: "independent"
      })
    ),
    operations: Schema.Array(Schema.Union(operations).annotate({ identifier: `${name}Operation` })).check(
      Schema.isMinLength(1, { expected: "at least one operation", code: "tooFew" }),
      atMost(maxOperations, "operations")
    )
  }).annotate({ identifier: `${name}Bulk` })

/** The shapes of a resource whose records are written in bulk. */
interface Shapes<Id, Create, Patch, Errors> {
  /** The record in the names of the schemas. */
  readonly name: string
  readonly id: Id
  readonly create: Create
  readonly patch: Patch
  readonly errors: Errors
}

/** The schemas of many operations on the records of a resource that have no business key. */
export const bulkWithoutKey = <
  Id extends Schema.Top,
  Create extends Shape,
  Patch extends Shape,
  const Errors extends ReadonlyArray<Schema.Top>
>({
  create,
  errors,
  id,
  name,
  patch
}: Shapes<Id, Create, Patch, Errors>) => ({
  payload: requestOf(name, operationsOf(id, create, patch)),
  success: Answer(name, id, Schema.Union([...errors, ...sharedErrors]))
})

/** The schemas of many operations on the records of a resource; `key` is the member that `upsert` compares. */
export const bulk = <
  Id extends Schema.Top,
  Create extends Shape,
  Patch extends Shape,
  const Errors extends ReadonlyArray<Schema.Top>
>({
  create,
  errors,
  id,
  key,
  name,
  patch
}: Shapes<Id, Create, Patch, Errors> & { readonly key: string }) => ({
  payload: requestOf(name, [...operationsOf(id, create, patch), upsertOf(name, create, patch, key)]),
  success: Answer(name, id, Schema.Union([...errors, ...sharedErrors]))
})

/**
 * The permissions and the description of the bulk operation of a resource, whose records people read as `subject`; `also`
 * names the permissions that some members need in addition, and `upserts` whether its records have a business key.
 */
export const writing =
  (entity: Entity, subject: string, { also = "", upserts = true } = {}) =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint => {
    const permissions = [`create:${entity}`, `update:${entity}`, `delete:${entity}`] as const
    const [create, update, remove] = permissions
    const described = describe(
      `Write many ${subject}`,
      `Up to ${maxOperations.toLocaleString("en")} operations in one request of at most ${maxBulkBytes / 1024 ** 2} MiB, each with at most ${maxDataBytes / 1024 ** 2} MiB of data. They take effect in their order, and each has the status and the error that it has by itself. Needs \`${create}\`, \`${update}\` and \`${remove}\` as far as the request has such operations${upserts ? "; `upsert` needs the first two" : ""}.${also}`
    )(requiresSome(...permissions)(endpoint))
    return answersInFull(limits({ maxBodyBytes: maxBulkBytes, share: "bulk" })(described))
  }
