import { Schema, SchemaTransformation } from "effect"
import type { Permission } from "../../domain/keys/Permission.ts"
import { inRange } from "../../domain/schema/WholeNumber.ts"
import { atMost } from "../../domain/schema/Checks.ts"
import { maxBulkBytes, maxOperations, Mode, NotAppliedError, operationsOf } from "../../domain/write/Bulk.ts"
import { InvalidRequestError, PreconditionFailedError } from "../../domain/write/RequestErrors.ts"
import type { Annotatable } from "../Annotations.ts"
import { requiresSome } from "../Authorization.ts"
import { describe } from "../Describe.ts"
import { limits } from "../Limits.ts"
import { answersInFull } from "./SafeWrites.ts"

const Status = Schema.Int.check(inRange(200, 599))

/** What each operation answers, and whether the request took effect. */
const Answer = <Id extends Schema.Top, const Errors extends ReadonlyArray<Schema.Top>>(id: Id, errors: Errors) => {
  const error = Schema.Union([...errors, InvalidRequestError, PreconditionFailedError, NotAppliedError])
  const item = Schema.Struct({
    index: Schema.Int.check(inRange(0, maxOperations - 1)).annotate({ description: "The place in `operations`." }),
    status: Status.annotate({ description: "The status that the operation has by itself." }),
    uuid: Schema.optionalKey(id as unknown as Schema.Codec<Id["Type"], Id["Encoded"]>),
    error: Schema.optionalKey(error as unknown as Schema.Codec<Errors[number]["Type"], Errors[number]["Encoded"]>)
  })
  const answer = {
    data: Schema.Array(item),
    applied: Schema.Boolean.annotate({ description: "False if an atomic request did nothing." }),
    counts: Schema.Record(Schema.String, Schema.Int).annotate({
      description: "How many operations have each status.",
      examples: [{ 201: 998, 400: 2 }]
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

/** The shapes of a resource whose records are written in bulk; `key` is the member that `upsert` compares. */
interface Shapes<Id, Create, Patch, Errors> {
  readonly id: Id
  readonly create: Create
  readonly patch: Patch
  readonly key?: string
  readonly errors: Errors
}

/** The schemas of many operations on the records of a resource. */
export const bulk = <
  Id extends Schema.Top,
  Create extends Schema.Top,
  Patch extends Schema.Top,
  const Errors extends ReadonlyArray<Schema.Top>
>({
  create,
  errors,
  id,
  key,
  patch
}: Shapes<Id, Create, Patch, Errors>) => ({
  payload: Schema.Struct({
    mode: Schema.optionalKey(
      Mode.annotate({
        description: "`independent`, the default, does what can be done; `atomic` does all or nothing.",
        default: "independent"
      })
    ),
    operations: Schema.Array(operationsOf(id, create, patch, key)).check(
      Schema.isMinLength(1, { expected: "at least one operation", code: "tooFew" }),
      atMost(maxOperations, "operations")
    )
  }),
  success: Answer(id, errors)
})

/** The permissions and the description of the bulk operation of a resource, whose records people read as `subject`. */
export const writing =
  (entity: string, subject: string) =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint => {
    const permissions = ["create", "update", "delete"].map((verb) => `${verb}:${entity}` as Permission)
    const described = describe(
      `Write many ${subject}`,
      `Up to ${maxOperations} operations, in their order; the body has at most ${maxBulkBytes / 1024 ** 2} MiB. Each answers as it does by itself, with \`status\` and \`error\`. Needs the permissions of the operations that the request has; \`upsert\` creates or patches by the business key and needs those of both.`
    )(requiresSome(...permissions)(endpoint))
    return answersInFull(limits({ maxBodyBytes: maxBulkBytes, share: "bulk" })(described))
  }
