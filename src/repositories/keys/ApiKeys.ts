import { Context, Effect, Layer, Option, Schema } from "effect"
import type { Selection } from "../../domain/query/Selection.ts"
import type { SqlClient } from "effect/sql"
import {
  ApiKey,
  type ApiKeyId,
  ApiKeyNotFoundError,
  type CallingKey,
  passing,
  type UnauthorizedError
} from "../../domain/keys/ApiKey.ts"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import { uuidPattern } from "../../domain/schema/UuidPattern.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import type { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { deleted, type Written } from "../../domain/write/Written.ts"
import { Settings } from "../../settings/Config.ts"
import type { ListRequest } from "../../sql/lists/Listing.ts"
import * as Reads from "../../sql/Reads.ts"
import { changeSetting } from "../../sql/ChangeSetting.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"
import * as Writes from "./ApiKeyWrites.ts"
import * as KeyLookups from "./KeyLookups.ts"

export interface RevokedKey extends Written<"apiKeys", ApiKeyId> {
  /** The public ids of all keys that were revoked. */
  readonly ids: ReadonlyArray<string>
}

/** The keys, in PostgreSQL. */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    get(uuid: ApiKeyId, selection?: Selection): Effect.Effect<Encoded<ApiKey>, ApiKeyNotFoundError>
    list(request: ListRequest): Effect.Effect<EncodedPage<ApiKey>>
    findById(id: string): Effect.Effect<Option.Option<KeyLookups.StoredKey>>
    /** Finds a key within the current share, by an id that may be made up. */
    findNewById(id: string): Effect.Effect<Option.Option<KeyLookups.StoredKey>>
    /** What a key may do, which is nothing when there is no such key, and in whose share it counts. */
    calling(uuid: ApiKeyId): Effect.Effect<CallingKey>
    /** Those of the keys that were revoked or have expired. */
    ended(uuids: ReadonlyArray<ApiKeyId>): Effect.Effect<ReadonlyArray<KeyLookups.EndedKey>>
    findByUuid(uuid: ApiKeyId): Effect.Effect<Option.Option<ApiKey>>
    /** The key expires with its creator at the latest; a later expiry is an error. */
    insert(key: Writes.NewKey): Effect.Effect<Writes.StoredCreated, UnauthorizedError | InvalidRequestError>
    /** Stores the key only if there is none yet; several processes may ask at once. */
    insertFirst(key: Writes.NewKey): Effect.Effect<Option.Option<Writes.StoredCreated>>
    /**
     * Stores the successor and ends the old key after the overlap, unless the old one is no longer active. The successor
     * expires with its creator at the latest.
     */
    replace(
      old: ApiKeyId,
      overlapSeconds: number,
      successor: Writes.NewKey,
      precondition: Precondition
    ): Effect.Effect<Option.Option<Writes.StoredCreated>, UnauthorizedError | ApiKeyNotFoundError>
    revoke(uuid: ApiKeyId, precondition: Precondition): Effect.Effect<RevokedKey, ApiKeyNotFoundError>
    /** Revokes a key and every key that it created, transitively, in parts that are committed one after another. */
    revokeAll(uuid: ApiKeyId, precondition: Precondition): Effect.Effect<RevokedKey, ApiKeyNotFoundError>
    /** Notes the use of keys, at most once a minute each. */
    touch(uuids: ReadonlyArray<ApiKeyId>): Effect.Effect<void>
  }
>()("waypost/repositories/keys/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const { keys, pooled } = yield* Sql
      const reads = yield* Reads.make({ table: "api_keys", record: ApiKey, notFound: ApiKeyNotFoundError, passing })
      const weighted = [...(yield* Settings).KEY_WEIGHTS.keys()].filter((uuid) => uuidPattern.test(uuid))

      const findByUuid = (uuid: ApiKeyId) =>
        Effect.flatMap(
          reads.find(uuid),
          Option.match({
            onNone: () => Effect.succeedNone,
            onSome: (json) => Effect.asSome(Effect.orDie(decode(json)))
          })
        )

      const revoke = Effect.fnUntraced(function* (uuid: ApiKeyId, precondition: Precondition) {
        const statement = pooled<{ readonly id: string; readonly changed: boolean }>`
          update api_keys k set revoked_at = coalesce(k.revoked_at, now())
            from (select uuid, revoked_at from api_keys where uuid = ${uuid} for update) old
            where k.uuid = old.uuid returning k.id, old.revoked_at is null as changed, ${yield* changeSetting}`
        const [row] = yield* Effect.orDie(reads.guard(uuid, statement, precondition))
        if (row === undefined) return yield* ApiKeyNotFoundError.of(uuid)
        return { ...deleted("apiKeys", uuid, row.changed), ids: [row.id] }
      })

      const revokeAll = Effect.fnUntraced(function* (uuid: ApiKeyId, precondition: Precondition) {
        const revoked = yield* Writes.revokeCreated(pooled, uuid, reads.lock(uuid, precondition))
        const others = revoked.filter((key) => key.uuid !== uuid)
        return {
          ...deleted("apiKeys", uuid, others.length < revoked.length),
          also: others.map((key) => deleted("apiKeys", key.uuid)),
          ids: revoked.map(({ id }) => id)
        }
      })

      return traced(ApiKeys, {
        get: reads.get,
        list: reads.list,
        ...KeyLookups.make(keys, weighted),
        findByUuid,
        insert: (key) => Writes.insert(pooled, key),
        insertFirst: (key) => Writes.insertFirst(pooled, key),
        replace: (old, overlapSeconds, successor, precondition) =>
          Writes.replace(pooled, old, overlapSeconds, successor, reads.lock(old, precondition)),
        revoke,
        revokeAll,
        touch: (uuids) => touchRows(pooled, uuids)
      })
    })
  )
}

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(ApiKey))

const touchRows = (sql: SqlClient.SqlClient, uuids: ReadonlyArray<ApiKeyId>) =>
  sql`update api_keys set last_used_at = now()
    where uuid = any(${uuids}::uuid[]) and (last_used_at is null or last_used_at < now() - interval '1 minute')`.pipe(
    Effect.orDie,
    Effect.asVoid
  )
