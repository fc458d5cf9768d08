import { Effect, Record, type Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { CurrentApiKey } from "../../api/Authorization.ts"
import type { Permission } from "../../domain/keys/Permission.ts"
import type { Mode, Operation, Outcome } from "../../domain/write/Bulk.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import * as BulkWrites from "../../repositories/bulk/Bulk.ts"
import { decodeAll, decoderOf, type DecodedOperation } from "../../repositories/bulk/Decoding.ts"
import type { BulkResource } from "../../repositories/bulk/Resource.ts"
import { valueOf } from "../../repositories/bulk/Segments.ts"
import { auditedBulk, CurrentRequestId } from "../transport/AuditLog.ts"
import { demand } from "../transport/Authorization.ts"

interface Options extends Pick<BulkResource, "batch"> {
  /** The name of its permissions. */
  readonly entity: string
  readonly create: Schema.Top
  readonly patch: Schema.Top
  readonly writes: Effect.Effect<BulkResource["writes"], never, CurrentApiKey>
  /** Permissions that an operation needs in addition. */
  readonly demands?: (operation: DecodedOperation) => ReadonlyArray<Permission | undefined>
}

interface Asked {
  readonly payload: { readonly mode?: typeof Mode.Type; readonly operations: ReadonlyArray<Operation> }
  readonly request: HttpServerRequest.HttpServerRequest
}

/** What an operation is permitted by. */
const verbs = {
  create: ["create"],
  update: ["update"],
  upsert: ["create", "update"],
  delete: ["delete"],
  rejected: []
} as const

/** The handlers of bulk requests. */
export const make = Effect.map(
  BulkWrites.make,
  (write) =>
    ({ batch, create, demands = () => [], entity, patch, writes }: Options) => {
      const shapes = { create: decoderOf(create), patch: decoderOf(patch), key: batch.key }

      return Effect.fnUntraced(function* ({ payload: { mode, operations: sent }, request }: Asked) {
        if (request.headers["if-match"] !== undefined) return yield* Effect.die(noPrecondition)
        yield* demand(...new Set(sent.flatMap(({ op }) => verbs[op].map((verb) => `${verb}:${entity}` as Permission))))
        const operations = yield* decodeAll(sent, shapes)
        yield* demand(
          ...batch.relations
            .filter((member) => operations.some((operation) => valueOf(operation, member) !== undefined))
            .map((member) => `update:${member}` as Permission),
          ...operations.flatMap(demands)
        )
        const requestId = yield* CurrentRequestId
        const resource = { batch, create: shapes.create, patch: shapes.patch, writes: yield* writes }
        const written = write(resource, { operations, isAtomic: mode === "atomic", requestId })
        const { applied, outcomes } = yield* auditedBulk(written, ({ outcomes }) =>
          Record.map(countsOf(outcomes), String)
        )
        const answer = { _tag: "Success", data: outcomes, applied, counts: countsOf(outcomes) }
        return HttpServerResponse.text(JSON.stringify(answer), { contentType: "application/json" })
      })
    }
)

/** How many operations have each status. */
const countsOf = (outcomes: ReadonlyArray<Outcome>) => {
  const counts: Record<string, number> = {}
  for (const { status } of outcomes) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const noPrecondition = InvalidRequestError.of([
  {
    in: "header",
    path: "if-match",
    code: "notAllowed",
    message: "A bulk request has no precondition of its own; send ifMatch with an operation"
  }
])
