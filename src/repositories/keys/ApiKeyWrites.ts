import { Effect, Option, Schema, Struct } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { ApiKeyCreated, ApiKeyId, UnauthorizedError } from "../../domain/keys/ApiKey.ts"
import type { Permission } from "../../domain/keys/Permission.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { columnsOf, jsonOf, timestampJson } from "../../sql/Columns.ts"
import { sql } from "../../sql/Fragment.ts"
import { transaction } from "../../sql/Transactions.ts"

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

/** A key that was stored, without its secret. */
const Stored = Schema.Struct(Struct.omit(ApiKeyCreated.fields, ["key"]))
export type StoredCreated = typeof Stored.Type
const storedJson = jsonOf(columnsOf(Stored))
const decodeStored = Schema.decodeUnknownEffect(Schema.fromJsonString(Stored))

/** The state of a key that is locked. */
interface LockedKey {
  readonly uuid: ApiKeyId
  readonly revoked: boolean
  readonly expired: boolean
  readonly replaced: boolean
  /** ISO 8601. */
  readonly expiresAt: string | null
}

/** Waits until no other transaction writes keys, and lets none begin until this one ends. */
const excludeWrites = (client: SqlClient.SqlClient) => client`lock table api_keys in share row exclusive mode`

/** Locks keys, in one order for all transactions, and announces a write, so that `excludeWrites` waits for it. */
const lockKeys = Effect.fnUntraced(function* (client: SqlClient.SqlClient, uuids: ReadonlyArray<ApiKeyId>) {
  yield* client`lock table api_keys in row exclusive mode`
  return yield* client<LockedKey>`
    select uuid, revoked_at is not null as revoked, coalesce(expires_at <= now(), false) as expired,
      replaced_by_uuid is not null as replaced, ${timestampJson(sql`expires_at`)} as "expiresAt"
      from api_keys where uuid = any(${uuids}::uuid[]) order by uuid for no key update`
})

/** A key that was revoked or has expired since its request was authenticated creates no other. */
const checkCreator = (keys: ReadonlyArray<LockedKey>, uuid: ApiKeyId) => {
  const creator = keys.find((key) => key.uuid === uuid)
  if (creator === undefined) return Effect.fail(UnauthorizedError.of("unknown"))
  if (creator.revoked) return Effect.fail(UnauthorizedError.of("revoked"))
  return creator.expired ? Effect.fail(UnauthorizedError.of("expired")) : Effect.succeed(creator)
}

/** Inserts a key and returns it: a read after the commit could fail, and the only copy of the secret would be lost. */
const insertRow = Effect.fnUntraced(function* (client: SqlClient.SqlClient, key: NewKey) {
  const uuid = ApiKeyId.make(SecureRandom.uuidV7Unsafe())
  const { createdBy = null, expiresAt = null, id, name, permissions, prefix, secretHash } = key
  const [row] = yield* client<{ readonly json: string }>`
    insert into api_keys as t (uuid, id, prefix, secret_hash, name, permissions, expires_at, created_by_key_uuid)
      values (${uuid}, ${id}, ${prefix}, ${secretHash}, ${name}, ${permissions},
        least(${expiresAt}::timestamptz, (select expires_at from api_keys where uuid = ${createdBy}::uuid)),
        ${createdBy}::uuid)
      returning ${storedJson} as json`
  return yield* Effect.orDie(decodeStored(row!.json))
})

export const insert = Effect.fnUntraced(
  function* (client: SqlClient.SqlClient, key: NewKey) {
    const { createdBy, expiresAt } = key
    if (createdBy !== undefined) {
      const creator = yield* checkCreator(yield* lockKeys(client, [createdBy]), createdBy)
      const latest = creator.expiresAt
      if (expiresAt !== undefined && latest !== null && expiresAt > latest) return yield* expiresTooLate(latest)
    }
    return yield* insertRow(client, key)
  },
  (write, client) => transaction(client, write)
)

export const insertFirst = Effect.fnUntraced(
  function* (client: SqlClient.SqlClient, key: NewKey) {
    yield* excludeWrites(client)
    const existing = yield* client`select 1 from api_keys limit 1`
    return existing.length > 0 ? Option.none() : Option.some(yield* insertRow(client, key))
  },
  (write, client) => transaction(client, write)
)

export const replace = Effect.fnUntraced(
  function* <E>(
    client: SqlClient.SqlClient,
    old: ApiKeyId,
    overlapSeconds: number,
    successor: NewKey,
    check: Effect.Effect<void, E>
  ) {
    const { createdBy } = successor
    // The lock makes two rotations of one key wait for each other; the second finds it replaced.
    const locked = yield* lockKeys(client, createdBy === undefined ? [old] : [old, createdBy])
    if (createdBy !== undefined) yield* checkCreator(locked, createdBy)
    yield* check
    const isActive = locked.some((key) => key.uuid === old && !key.replaced && !key.revoked && !key.expired)
    if (!isActive) return Option.none()
    const stored = yield* insertRow(client, successor)
    yield* client`
      update api_keys set replaced_by_uuid = ${stored.uuid}::uuid,
        expires_at = least(expires_at, now() + make_interval(secs => ${overlapSeconds}::float8)) where uuid = ${old}::uuid`
    return Option.some(stored)
  },
  (write, client) => transaction(client, write)
)

/** How many keys one statement revokes, well within the time limit of statements. */
const maxRevoked = 5000

/** How many generations of keys one transaction goes through, each with two statements. */
const maxGenerations = 100

interface RevokedRow {
  readonly uuid: ApiKeyId
  readonly id: string
}

/** Revokes some of the keys and of those that they created; returns those that were not revoked yet, and those that remain. */
const revokePart = Effect.fnUntraced(
  function* <E>(client: SqlClient.SqlClient, keys: ReadonlyArray<ApiKeyId>, check: Effect.Effect<void, E>) {
    yield* excludeWrites(client)
    yield* check
    const revoked: Array<RevokedRow> = []
    let remaining = keys
    let visited = 0
    for (let generation = 0; generation < maxGenerations && visited < maxRevoked; generation++) {
      const next = remaining.slice(0, maxRevoked)
      if (next.length === 0) break
      const rows = yield* client<RevokedRow>`
        update api_keys set revoked_at = now() where uuid = any(${next}::uuid[]) and revoked_at is null returning uuid, id`
      const created = yield* client<{ readonly uuid: ApiKeyId }>`
        select uuid from api_keys where created_by_key_uuid = any(${next}::uuid[])`
      revoked.push(...rows)
      visited += next.length
      remaining = [...remaining.slice(maxRevoked), ...created.map(({ uuid }) => uuid)]
    }
    return { revoked, remaining }
  },
  (part, client) => transaction(client, part)
)

/**
 * Revokes a key and every key that it created, transitively; returns those that were not revoked yet. Each part is committed, a
 * creator before its keys, so that the key itself is revoked even if the rest fails.
 */
export const revokeCreated = Effect.fnUntraced(function* <E>(
  client: SqlClient.SqlClient,
  uuid: ApiKeyId,
  check: Effect.Effect<void, E>
) {
  const first = yield* revokePart(client, [uuid], check)
  const revoked = [first.revoked]
  for (let { remaining } = first; remaining.length > 0;) {
    const part = yield* revokePart(client, remaining, Effect.void)
    revoked.push(part.revoked)
    remaining = part.remaining
  }
  return revoked.flat()
})

const expiresTooLate = (latest: string) =>
  InvalidRequestError.inBody(
    "expiresAt",
    "outOfRange",
    `expiresAt must be ${latest} or earlier: the calling key expires then`
  )
