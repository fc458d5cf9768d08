import { Effect, Predicate, Result, Schema } from "effect"
import { codecOf } from "../../domain/schema/Codec.ts"
import { memberOf } from "../../domain/schema/Json.ts"
import { maxDataBytes, type Operation } from "../../domain/write/Bulk.ts"
import { decodeEach } from "../../domain/write/DecodeEach.ts"
import { describe, maxFullyChecked, strict } from "../../domain/write/Issues.ts"
import { InvalidRequestError, PayloadTooLargeError } from "../../domain/write/RequestErrors.ts"
import { type Precondition, preconditionOf } from "../../domain/query/Precondition.ts"
import type { Batch } from "../../sql/batch/BatchTypes.ts"

/** What a client sends, or why it does not decode. */
type Decoded<A = unknown> = Result.Result<A, InvalidRequestError>

/** Decodes the data of an operation as the operation on one record does. */
export type Decode = (data: unknown) => Decoded

/** An operation whose data is decoded. */
export type DecodedOperation =
  | { readonly op: "create"; readonly payload: unknown }
  | { readonly op: "update"; readonly uuid: string; readonly payload: unknown; readonly precondition: Precondition }
  | Upsert
  | { readonly op: "delete"; readonly uuid: string; readonly precondition: Precondition }
  | { readonly op: "rejected"; readonly error: InvalidRequestError | PayloadTooLargeError }

/** Which of the two it does is known once its record was looked for. */
export interface Upsert {
  readonly op: "upsert"
  readonly key: string
  /** The key as the data spells it. */
  readonly spelled: string
  readonly data: unknown
}

/** Data as JSON; none if it is nested too deep to be written. */
const textOf = (data: unknown) => Result.getOrUndefined(Result.try(() => JSON.stringify(data)))

/** Whether all problems of data are found. */
const isSmall = (data: unknown) => (textOf(data)?.length ?? Infinity) <= maxFullyChecked

/** The decoder of a shape, for the data of operations. */
export const decoderOf = (shape: Schema.Top): Decode => {
  const codec = codecOf(shape)
  const first = Schema.decodeUnknownResult(codec, strict)
  const all = Schema.decodeUnknownResult(codec, { ...strict, errors: "all" })
  return (data) =>
    Result.mapError(first(data), (error) => {
      const failure = isSmall(data)
        ? Result.match(all(data), { onFailure: (all) => all, onSuccess: () => error })
        : error
      return InvalidRequestError.of(describe(failure.issue, "body"))
    })
}

/** The decoders of a resource, and its business key. */
interface Shapes {
  readonly batch: Pick<Batch, "areSameKeys">
  readonly create: Decode
  readonly patch: Decode
  readonly key: string | undefined
}

/** The operations of a request, each decoded or rejected by itself. */
export const decodeAll = Effect.fnUntraced(function* (operations: ReadonlyArray<Operation>, shapes: Shapes) {
  const decoded = yield* decodeEach(operations, (operation) => decode(operation, shapes))
  const spelled = decoded.flatMap((operation) =>
    operation.op === "upsert" && operation.spelled !== operation.key ? [operation] : []
  )
  if (spelled.length === 0) return decoded
  const same = yield* Effect.orDie(shapes.batch.areSameKeys(spelled.map(({ key, spelled }) => [key, spelled])))
  const others = new Set<DecodedOperation>(spelled.filter((_, index) => same[index] !== true))
  return decoded.map((operation) => (others.has(operation) ? rejected(other(shapes.key!)) : operation))
})

/** Whether the body of a write of one record could have the data. */
const isWithinBody = (data: unknown) => Buffer.byteLength(textOf(data) ?? "") <= maxDataBytes

const tooLarge = new PayloadTooLargeError({
  message: `The data of an operation has at most ${maxDataBytes / 1024 ** 2} MiB`
})

const decode = (operation: Operation, { create, key, patch }: Shapes): DecodedOperation => {
  const { op } = operation
  if ("data" in operation && !isWithinBody(operation.data)) return rejected(tooLarge)
  switch (op) {
    case "create":
      return Result.match(create(operation.data), {
        onFailure: rejected,
        onSuccess: (payload) => ({ op, payload })
      })
    case "update": {
      const { data, ifMatch, uuid } = operation
      return Result.match(patch(data), {
        onFailure: rejected,
        onSuccess: (payload) => ({ op, uuid, payload, precondition: preconditionOf(ifMatch) })
      })
    }
    case "upsert":
      return upsert(operation, key!, { create, patch })
    case "delete":
      return { op, uuid: operation.uuid, precondition: preconditionOf(operation.ifMatch) }
  }
}

const rejected = (error: InvalidRequestError | PayloadTooLargeError): DecodedOperation => ({ op: "rejected", error })

/** Fills the key into the data. */
const upsert = (
  { data, key }: { readonly data: unknown; readonly key: string },
  member: string,
  { create, patch }: Pick<Shapes, "create" | "patch">
) => {
  if (!Predicate.isObject(data)) return Result.match(patch(data), { onFailure: rejected, onSuccess: unexpected })
  const named = (value: unknown) =>
    Result.map(patch({ [member]: value }), (decoded) => String(memberOf(decoded, member)))
  const own = memberOf(data, member)
  const filled = own === undefined ? { ...data, [member]: key } : data
  const wanted = named(key)
  // No record has such a key.
  if (Result.isFailure(wanted)) return Result.match(create(filled), { onFailure: rejected, onSuccess: unexpected })
  // Data with a malformed key is rejected as a creation or a patch.
  const spelled = own === undefined ? wanted.success : Result.getOrElse(named(own), () => wanted.success)
  return { op: "upsert" as const, key: wanted.success, spelled, data: filled }
}

const unexpected = () => rejected(InvalidRequestError.inBody("", "wrongType", "Expected an object"))

const other = (member: string) =>
  InvalidRequestError.inBody(member, "notAllowed", "Expected the key of the operation; it may be left out")
