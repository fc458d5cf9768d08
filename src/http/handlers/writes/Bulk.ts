import { Effect, Record } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Permission } from "../../../domain/keys/Permission.ts"
import type { Mode, Operation, Outcome } from "../../../domain/write/Bulk.ts"
import { InvalidRequestError } from "../../../domain/write/RequestErrors.ts"
import * as BulkWrites from "../../../repositories/bulk/Bulk.ts"
import { decodeAll } from "../../../repositories/bulk/Decoding.ts"
import { isFailed } from "../../../repositories/bulk/Outcomes.ts"
import { BulkResources } from "./BulkResources.ts"
import { auditedBulk } from "../../transport/AuditLog.ts"
import { CurrentRequestId } from "../../transport/CurrentRequest.ts"
import { demand } from "../../transport/Authorization.ts"

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

/** The handlers of bulk requests, by the resource. */
export const make = Effect.gen(function* () {
  const write = yield* BulkWrites.make
  const resources = yield* BulkResources

  return (name: keyof typeof resources) => {
    const { demandsOf, entity, resource, shapes } = resources[name]
    return Effect.fnUntraced(function* ({ payload: { mode, operations: sent }, request }: Asked) {
      if (request.headers["if-match"] !== undefined) return yield* Effect.die(preconditionNotAllowed)
      yield* demand(...new Set(sent.flatMap(({ op }) => verbs[op].map((verb): Permission => `${verb}:${entity}`))))
      const operations = yield* decodeAll(sent, shapes)
      yield* demand(...operations.flatMap(demandsOf))
      const requestId = yield* CurrentRequestId
      const written = write(yield* resource, { operations, isAtomic: mode === "atomic", requestId })
      const { applied, outcomes } = yield* auditedBulk(written, ({ outcomes }) =>
        outcomes.every(isFailed) ? undefined : Record.map(countsOf(outcomes), String)
      )
      const answer = { _tag: "Success", data: outcomes, applied, counts: countsOf(outcomes) }
      return HttpServerResponse.text(JSON.stringify(answer), { contentType: "application/json" })
    })
  }
})

/** How many operations have each status. */
const countsOf = (outcomes: ReadonlyArray<Outcome>) => {
  const counts: Record<string, number> = {}
  for (const { status } of outcomes) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const preconditionNotAllowed = InvalidRequestError.at(
  "header",
  "if-match",
  "notAllowed",
  "A bulk request has no precondition of its own; send ifMatch with an operation"
)
