import { Context, Effect, Layer, Option, Result, type Types } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { createHash } from "node:crypto"
import { CurrentApiKey } from "../../api/Authorization.ts"
import { AnswersInFull, offers, SafeWrites } from "../../api/writes/SafeWrites.ts"
import { encodeApiError } from "../../domain/write/ApiError.ts"
import { IdempotencyInProgressError, InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { isIdempotencyKey, prefersValidateOnly, validateOnly } from "../../domain/write/SafeWrites.ts"
import { CurrentTransaction, make as surround } from "../../domain/write/SurroundingTransaction.ts"
import { IdempotentAnswers, type KeptAnswer } from "../../repositories/idempotency/IdempotentAnswers.ts"
import { Sql } from "../../sql/Sql.ts"
import { rolledBack } from "../../sql/RolledBack.ts"
import { noteUncertain } from "./AuditLog.ts"
import { CurrentRequestId } from "./CurrentRequest.ts"
import * as SlowBody from "../streams/SlowBody.ts"

type Respond = Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>

/**
 * A write with an `Idempotency-Key` runs in a transaction that also keeps its answer, so that a repetition gets it again. A
 * write with `Prefer: validate-only` runs in a transaction that is rolled back.
 */
export const layer = Layer.effect(
  SafeWrites,
  Effect.gen(function* () {
    const { pooled } = yield* Sql
    const answers = yield* IdempotentAnswers
    const slowBody = yield* SlowBody.make

    /** The body in memory: a small one since its encoding has been checked, a slow one from here on. */
    const bodyOf = (request: HttpServerRequest.HttpServerRequest, endpoint: HttpApiEndpoint.Top) => {
      if (endpoint.payload.size === 0) return Effect.succeed([])
      if (SlowBody.isSlow(endpoint)) return slowBody.collect(request)
      return Effect.map(Effect.orDie(request.arrayBuffer), (bytes) => [new Uint8Array(bytes)])
    }

    const once = Effect.fnUntraced(function* (respond: Respond, key: string, body: ReadonlyArray<Uint8Array>) {
      const { method, url } = yield* HttpServerRequest.HttpServerRequest
      const { uuid: apiKey } = yield* CurrentApiKey
      const hash = createHash("sha256").update(`${method} ${url}\n`)
      for (const bytes of body) hash.update(bytes)
      const fingerprint = hash.digest()
      const surrounding = surround()
      const begin = Effect.sync(() => {
        surrounding.headers.clear()
        surrounding.afterCommit.length = 0
      })
      const requestId = yield* CurrentRequestId
      const write = {
        run: Effect.andThen(begin, respond),
        keptOf: Result.match({
          onSuccess: (response: HttpServerResponse.HttpServerResponse) => successOf(response, surrounding.headers),
          onFailure: (error: unknown) => rejectionOf(error, requestId)
        })
      }
      const answered = yield* answers
        .answer({ apiKey, key, fingerprint }, write)
        .pipe(
          Effect.provideService(CurrentTransaction, surrounding),
          SlowBody.provide(body),
          noteUncertain,
          Effect.catchTag(["IdempotencyKeyReusedError", "IdempotencyInProgressError"], Effect.die)
        )
      if (answered._tag === "Unkept") return answered.value
      if (answered.isReplayed) return responseOf(answered.answer, { "idempotent-replayed": "true" })
      yield* Effect.all(surrounding.afterCommit, { discard: true })
      return responseOf(answered.answer, {})
    })

    const validated = (respond: Respond, { annotations }: HttpApiEndpoint.Top) =>
      rolledBack(pooled, respond).pipe(
        Effect.provideService(CurrentTransaction, surround()),
        Effect.map((response) => {
          if (!isSuccess(response)) return response
          return Context.getOrElse(annotations, AnswersInFull, () => false)
            ? HttpServerResponse.setHeader(response, "preference-applied", validateOnly)
            : valid
        })
      )

    return SafeWrites.of((respond, { endpoint }) =>
      endpoint.method === "GET"
        ? respond
        : Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
            const { "idempotency-key": key, prefer } = request.headers
            if (prefer !== undefined && prefersValidateOnly(prefer)) {
              return offers(endpoint, "validate-only") ? validated(respond, endpoint) : cannotValidate
            }
            if (key === undefined) return respond
            if (!offers(endpoint, "Idempotency-Key")) return cannotRepeat
            if (!isIdempotencyKey(key)) return malformed
            const repeatable = Effect.flatMap(bodyOf(request, endpoint), (body) => once(respond, key, body))
            if (!SlowBody.isSlow(endpoint)) return repeatable
            return Effect.flatMap(
              SlowBody.answerWithout(respond),
              Option.match({ onNone: () => repeatable, onSome: Effect.succeed })
            )
          })
    )
  })
)

const isSuccess = ({ status }: HttpServerResponse.HttpServerResponse) => status >= 200 && status < 300

const valid = HttpServerResponse.jsonUnsafe(
  { _tag: "Success", data: { valid: true } },
  { headers: { "preference-applied": validateOnly } }
)

/** The answer to a write that succeeded. */
const successOf = (
  response: HttpServerResponse.HttpServerResponse,
  headers: ReadonlyMap<string, string>
): KeptAnswer | undefined => {
  const { body, status } = response
  if (!isSuccess(response) || body._tag !== "Uint8Array") return undefined
  return { status, headers: Object.fromEntries(headers), body: Buffer.from(body.body).toString() }
}

const responseOf = ({ body, headers, status }: KeptAnswer, more: Readonly<Record<string, string>>) =>
  HttpServerResponse.text(body, { status, contentType: "application/json", headers: { ...headers, ...more } })

/** The statuses of rejections that are kept: what the records and their rules say. Those of decoding are defects, or have no class here. */
const keptStatuses: ReadonlySet<number> = new Set([400, 409])

/** The answer to a rejection, if it is kept. */
const rejectionOf = (error: unknown, requestId: string): KeptAnswer | undefined => {
  if (error instanceof IdempotencyInProgressError) return undefined
  const encoded = encodeApiError(error, requestId)
  if (encoded === undefined || !keptStatuses.has(encoded.status)) return undefined
  return { status: encoded.status, headers: {}, body: JSON.stringify(encoded.json) }
}

const inHeader = (path: string, code: string, message: string) =>
  Effect.die(InvalidRequestError.at("header", path, code, message))

const malformed = inHeader(
  "idempotency-key",
  "invalidFormat",
  "Expected 1 to 255 visible ASCII characters without spaces, such as a UUID"
)
const cannotRepeat = inHeader(
  "idempotency-key",
  "notAllowed",
  "The answer to this operation cannot be kept; leave the header out"
)
const cannotValidate = inHeader(
  "prefer",
  "notAllowed",
  "This operation cannot be validated without its effect; leave `validate-only` out"
)
