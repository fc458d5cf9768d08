import { Context, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { ApiKey, type ApiKeyCreated, type ApiKeyId, ApiKeyNotFoundError } from "../../domain/keys/ApiKey.ts"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import type { Permission } from "../../domain/keys/Permission.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import { deleted, type Written } from "../../domain/write/Written.ts"
import type { ListRequest } from "../../sql/Listing.ts"
import * as Reads from "../../sql/Reads.ts"
import { Sql } from "../../sql/Sql.ts"
import { transaction } from "../../sql/SqlErrors.ts"
import { traced } from "../../sql/Traced.ts"

/**
 * What validates a secret; expiry is by the database's clock. The permissions are not in it: reading them takes time,
 * which would distinguish an id that exists from one that does not.
 */
export interface StoredKey {
  readonly uuid: ApiKeyId
  readonly secretHash: Uint8Array
  readonly revoked: boolean
  readonly expired: boolean
}

/** A key to be stored: everything but its secret, of which only the hash is kept. */
export interface NewKey {
  readonly id: string
  readonly prefix: string
  readonly secretHash: Uint8Array
  readonly name: string
  readonly permissions: ReadonlyArray<Permission>
  /** ISO 8601. */
  readonly expiresAt: string | undefined
  readonly createdBy: ApiKeyId | undefined
}

export interface RevokedKey extends Written<"apiKeys", ApiKeyId> {
  /** The public id. */
  readonly id: string
}

/** The row of a key without its secret. */
export type StoredCreated = Omit<ApiKeyCreated, "key">

/** The keys, in PostgreSQL. */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    get(uuid: ApiKeyId): Effect.Effect<Encoded<ApiKey>, ApiKeyNotFoundError>
    list(request: ListRequest): Effect.Effect<EncodedPage<ApiKey>>
    findById(id: string): Effect.Effect<Option.Option<StoredKey>>
    /** What a key may do; empty when there is no such key. */
    permissions(uuid: ApiKeyId): Effect.Effect<ReadonlyArray<Permission>>
    findByUuid(uuid: ApiKeyId): Effect.Effect<Option.Option<ApiKey>>
    insert(key: NewKey): Effect.Effect<StoredCreated>
    /** Stores the key only if there is none yet; several processes may ask at once. */
    insertFirst(key: NewKey): Effect.Effect<Option.Option<StoredCreated>>
    /** Stores the successor and ends the old key after the overlap, unless the old one is no longer active. */
    replace(old: ApiKeyId, overlapSeconds: number, successor: NewKey): Effect.Effect<Option.Option<StoredCreated>>
    revoke(uuid: ApiKeyId, precondition: Precondition): Effect.Effect<RevokedKey, ApiKeyNotFoundError>
    /** Notes the use of keys, at most once a minute each. */
    touch(uuids: ReadonlyArray<ApiKeyId>): Effect.Effect<void>
  }
>()("waypost/repositories/keys/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const { pipelined, pooled } = yield* Sql
      const reads = yield* Reads.make({ table: "api_keys", record: ApiKey, notFound: ApiKeyNotFoundError })

      const findByUuid = (uuid: ApiKeyId) =>
        Effect.flatMap(
          reads.find(uuid),
          Option.match({
            onNone: () => Effect.succeedNone,
            onSome: (json) => Effect.asSome(Effect.orDie(decode(json)))
          })
        )
      const created = (uuid: ApiKeyId) => Effect.map(findByUuid(uuid), Option.getOrThrow)
      const createdOption = (uuid: ApiKeyId | undefined) =>
        uuid === undefined ? Effect.succeedNone : Effect.asSome(created(uuid))

      const revoke = Effect.fnUntraced(function* (uuid: ApiKeyId, precondition: Precondition) {
        const statement = pooled<{ readonly id: string; readonly changed: boolean }>`
          update api_keys k set revoked_at = coalesce(k.revoked_at, now())
            from (select uuid, revoked_at from api_keys where uuid = ${uuid} for update) old
            where k.uuid = old.uuid returning k.id, old.revoked_at is null as changed`
        const [row] = yield* Effect.orDie(reads.guard(uuid, statement, precondition))
        if (row === undefined) return yield* ApiKeyNotFoundError.of(uuid)
        return { ...deleted("apiKeys", uuid, row.changed), id: row.id }
      })

      return traced(ApiKeys, {
        get: reads.get,
        list: reads.list,
        ...lookups(pipelined),
        findByUuid,
        insert: (key) => Effect.flatMap(Effect.orDie(insertRow(pooled, key)), created),
        insertFirst: (key) => Effect.flatMap(insertFirstRow(pooled, key), createdOption),
        replace: (old, overlapSeconds, successor) =>
          Effect.flatMap(replaceRow(pooled, old, overlapSeconds, successor), createdOption),
        revoke,
        touch: (uuids) => touchRows(pooled, uuids)
      })
    })
  )
}

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(ApiKey))

/** The two reads that authenticate a request. */
const lookups = (pipelined: SqlClient.SqlClient) => ({
  findById: (id: string) =>
    // A row comes back for an unknown id too: the time to read one would reveal that the id exists.
    pipelined<StoredKey & { readonly found: boolean }>`
      select coalesce(uuid, '00000000-0000-0000-0000-000000000000') as uuid,
        coalesce(secret_hash, sha256('')) as "secretHash", revoked_at is not null as revoked,
        coalesce(expires_at <= now(), false) as expired, uuid is not null as found
        from (select ${id}::text as id) asked left join api_keys using (id)`.pipe(
      Effect.map(([row]) => Option.liftPredicate(row!, ({ found }) => found)),
      Effect.orDie
    ),
  permissions: (uuid: ApiKeyId) =>
    pipelined<{ readonly permissions: ReadonlyArray<Permission> }>`
      select permissions from api_keys where uuid = ${uuid}`.pipe(
      Effect.map((rows) => rows[0]?.permissions ?? []),
      Effect.orDie
    )
})

const insertRow = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, key: NewKey) {
  const uuid = SecureRandom.uuidV7Unsafe() as ApiKeyId
  const { createdBy, expiresAt, id, name, permissions, prefix, secretHash } = key
  yield* sql`
    insert into api_keys (uuid, id, prefix, secret_hash, name, permissions, expires_at, created_by_key_uuid)
      values (${uuid}, ${id}, ${prefix}, ${secretHash}, ${name}, ${permissions}, ${expiresAt ?? null}::timestamptz,
        ${createdBy ?? null})`
  return uuid
})

const insertFirstRow = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient, key: NewKey) {
    yield* sql`lock table api_keys in share row exclusive mode`
    const existing = yield* sql`select 1 from api_keys limit 1`
    return existing.length > 0 ? undefined : yield* insertRow(sql, key)
  },
  (write, sql) => transaction(sql, write)
)

const replaceRow = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient, old: ApiKeyId, overlapSeconds: number, successor: NewKey) {
    // The lock makes two rotations of one key wait for each other; the second finds it replaced.
    const active = yield* sql`
      select 1 from api_keys where uuid = ${old} and replaced_by_uuid is null and revoked_at is null
        and (expires_at is null or expires_at > now()) for update`
    if (active.length === 0) return undefined
    const uuid = yield* insertRow(sql, successor)
    yield* sql`
      update api_keys set replaced_by_uuid = ${uuid}::uuid,
        expires_at = least(expires_at, now() + make_interval(secs => ${overlapSeconds}::float8)) where uuid = ${old}::uuid`
    return uuid
  },
  (write, sql) => transaction(sql, write)
)

const touchRows = (sql: SqlClient.SqlClient, uuids: ReadonlyArray<ApiKeyId>) =>
  sql`update api_keys set last_used_at = now()
    where uuid = any(${uuids}::uuid[]) and (last_used_at is null or last_used_at < now() - interval '1 minute')`.pipe(
    Effect.orDie,
    Effect.asVoid
  )
