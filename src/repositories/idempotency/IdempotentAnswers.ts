import { Context, Effect, Layer, type Result } from "effect"
import type { SqlError } from "effect/sql"
import type { ApiKeyId } from "../../domain/keys/ApiKey.ts"
import { IdempotencyInProgressError, IdempotencyKeyReusedError } from "../../domain/write/RequestErrors.ts"
import { keptHours } from "../../domain/write/SafeWrites.ts"
import { sql } from "../../sql/Fragment.ts"
import { removeInParts } from "../../sql/Parts.ts"
import { Sql } from "../../sql/Sql.ts"
import { transaction } from "../../sql/Transactions.ts"
import { traced } from "../../sql/Traced.ts"

/** An answer as it is sent again. */
export interface KeptAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A request that is repeated with the same key. */
export interface RepeatableRequest {
  readonly apiKey: ApiKeyId
  readonly key: string
  /** A hash of the method, the URL and the body. */
  readonly fingerprint: Uint8Array
}

/** A write, and the answer that is kept of its result; none for a result that is not kept. */
export interface Write<A, E, R> {
  readonly run: Effect.Effect<A, E, R>
  readonly keptOf: (result: Result.Result<A, unknown>) => KeptAnswer | undefined
}

/** An answer that is kept, or the value of one that is not. */
export type Answered<A> =
  | { readonly _tag: "Kept"; readonly answer: KeptAnswer; readonly isReplayed: boolean }
  | { readonly _tag: "Unkept"; readonly value: A }

interface Entry extends KeptAnswer {
  readonly isSame: boolean
}

interface Claim {
  readonly owner: string
  readonly isClaimed: boolean
  readonly entry: Entry | null
}

/** The answers to requests with an `Idempotency-Key`. */
export class IdempotentAnswers extends Context.Service<
  IdempotentAnswers,
  {
    /**
     * Answers a request that was answered before, or runs its write, in one transaction with what is kept of its answer. The
     * claim on the key is a lock of that transaction, so that it ends with it. A failure undoes the write, kept or not.
     */
    answer<A, E, R>(
      request: RepeatableRequest,
      write: Write<A, E, R>
    ): Effect.Effect<
      Answered<A>,
      Exclude<E, SqlError.SqlError> | IdempotencyKeyReusedError | IdempotencyInProgressError,
      R
    >
    /** Removes the answers that are no longer kept. */
    readonly removeExpired: Effect.Effect<void>
  }
>()("waypost/repositories/idempotency/IdempotentAnswers") {
  static readonly layer = Layer.effect(
    IdempotentAnswers,
    Effect.gen(function* () {
      const { pooled } = yield* Sql

      const entryOf = (owner: ReturnType<typeof sql>, { fingerprint, key }: RepeatableRequest) => sql`(
        select json_build_object('isSame', a.fingerprint = ${fingerprint}::bytea, 'status', a.status, 'headers', a.headers,
          'body', a.body)
        from idempotent_answers a where a.owner = ${owner} and a.key = ${key}::text
          and a.created_at > now() - make_interval(hours => ${keptHours}::int))`

      const claim = (request: RepeatableRequest) => pooled<Claim>`
        with owner as materialized (
          select coalesce((select first_uuid from api_keys where uuid = key.uuid), key.uuid) as uuid
            from (select ${request.apiKey}::uuid as uuid) key
        )
        select uuid::text as owner, ${entryOf(sql`owner.uuid`, request)} as entry,
          pg_try_advisory_xact_lock(hashtextextended('idempotency ' || uuid || ' ' || ${request.key}::text, 0)) as "isClaimed"
        from owner`

      const replay = (entry: Entry) =>
        entry.isSame ? Effect.succeed({ _tag: "Kept", answer: entry, isReplayed: true } as const) : Effect.fail(reused)

      const answer = <A, E, R>(request: RepeatableRequest, { keptOf, run }: Write<A, E, R>) =>
        Effect.gen(function* () {
          const [claimed] = yield* claim(request)
          const { entry, isClaimed, owner } = claimed!
          if (entry !== null) return yield* replay(entry)
          if (!isClaimed) return yield* inProgress
          // The first request can have been committed between the snapshot of the claim and its lock.
          const [later] = yield* pooled<{ readonly entry: Entry | null }>`
            select ${entryOf(sql`${owner}::uuid`, request)} as entry`
          if (later!.entry !== null) return yield* replay(later!.entry)
          const result = yield* Effect.result(pooled.withTransaction(run))
          const kept = keptOf(result)
          if (kept === undefined) return { _tag: "Unkept", value: yield* Effect.fromResult(result) } as const
          const { body, headers, status } = kept
          yield* pooled`
            insert into idempotent_answers (owner, key, fingerprint, status, headers, body)
              values (${owner}::uuid, ${request.key}::text, ${request.fingerprint}::bytea, ${status}::smallint,
                ${JSON.stringify(headers)}::jsonb, ${body}::text)
              on conflict (owner, key) do update set (fingerprint, status, headers, body, created_at) =
                (excluded.fingerprint, excluded.status, excluded.headers, excluded.body, excluded.created_at)`
          return { _tag: "Kept", answer: kept, isReplayed: false } as const
        }).pipe((answered) => transaction(pooled, answered, { waitsForLocks: true }))

      const isExpired = sql`a.created_at < now() - make_interval(hours => ${keptHours}::int)`
      const removeExpired = removeInParts(
        (limit) => pooled`
          delete from idempotent_answers a using (
            select owner, key from idempotent_answers a where ${isExpired} order by created_at limit ${limit}::int
          ) part where a.owner = part.owner and a.key = part.key and ${isExpired} returning true`
      ).pipe(Effect.orDie)

      return traced(IdempotentAnswers, { answer, removeExpired })
    })
  )
}

const reused = new IdempotencyKeyReusedError({
  message: "Another request had this Idempotency-Key: its method, path, query or body was different; use a new key"
})

const inProgress = Effect.fail(
  new IdempotencyInProgressError({
    message: "The first request with this Idempotency-Key is not answered yet; try again in 1 s"
  })
)
