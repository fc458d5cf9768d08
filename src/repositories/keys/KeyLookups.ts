import { Effect, Option } from "effect"
import type { SqlClient } from "effect/sql"
import type { ApiKeyId } from "../../domain/keys/ApiKey.ts"
import type { Permission } from "../../domain/keys/Permission.ts"
import { RateLimitExceededError } from "../../domain/write/RequestErrors.ts"
import * as FairPermits from "../../sql/connections/FairPermits.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { firstOf, isOrPrecedes } from "./KeyLines.ts"

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

/** A key that was valid, and why it no longer is. */
export interface EndedKey {
  readonly uuid: ApiKeyId
  readonly reason: "revoked" | "expired"
}

/** How many keys that descend from one key have shares of their own, whichever of them created them. */
const maxOwnShares = 20

/** Whether the keys that `c` creates may have shares of their own: it does not expire, or does only because it was replaced. */
const isLasting = sql`(not c.was_expiring and (c.expires_at is null or c.replaced_by_uuid is not null))`

/**
 * Whether the key `k`, which has a creator, is one of the first that descend from the oldest of its creators. The keys of an
 * expiring creator are not counted and are none of them. It reads one key more than have shares of their own.
 */
const isEarly = sql`coalesce((
  with recursive creators (uuid, creator, is_lasting, length) as (
    select c.uuid, c.created_by_key_uuid, ${isLasting}, 1 from api_keys c where c.uuid = k.created_by_key_uuid
    union all
    select c.uuid, c.created_by_key_uuid, ${isLasting}, length + 1
      from creators join api_keys c on c.uuid = creators.creator where length < ${maxOwnShares}::int
  ), family (uuid, is_lasting) as (
    select uuid, is_lasting from creators where creator is null
    union all
    select created.uuid, created.is_lasting from family, lateral (
      select c.uuid, ${isLasting} as is_lasting from api_keys c
        where c.created_by_key_uuid = family.uuid and c.uuid <= k.uuid order by c.uuid limit ${maxOwnShares + 1}::int
    ) created where family.is_lasting
  ) select count(*) <= ${maxOwnShares + 1}::int and bool_or(uuid = k.uuid)
    from (select uuid from family limit ${maxOwnShares + 2}::int) oldest_and_first), false)`

/** How many creators may be between a key and the one in whose share it counts. */
const maxCreators = 20

/** The share of all keys that are further from the one in whose share they would count. */
const farShare = "00000000-0000-0000-0000-000000000000"

/** The first key of the line of rotations that a key is in, or the last of its predecessors that has a weight of its own. */
const ownerOf = (uuid: Fragment, weighted: ReadonlyArray<string>): Fragment => sql`(
  select coalesce(
    (select w.uuid from api_keys w where w.uuid = any (${weighted}::uuid[]) and ${isOrPrecedes("w", "own")}
      order by w.rotations desc limit 1), ${firstOf("own")})
  from api_keys own where own.uuid = ${uuid})`

/**
 * The key in whose share a key counts. A successor by rotation counts in that of its predecessor; a key that is none of the first
 * twenty that descend from the oldest of its creators, or was created by an expiring key, in that of its creator; a key with a weight of
 * its own in its own.
 */
const shareOf = (uuid: string, weighted: ReadonlyArray<string>): Fragment => sql`(
  with recursive chain (uuid, creators) as (
    select ${ownerOf(sql`${uuid}::uuid`, weighted)}, 0
    union all
    select ${ownerOf(sql`k.created_by_key_uuid`, weighted)}, chain.creators + 1
      from chain join api_keys k on k.uuid = chain.uuid
      where k.created_by_key_uuid is not null and not ${isEarly}
        and chain.creators <= ${maxCreators}::int and k.uuid <> all (${weighted}::uuid[])
  ) select case when creators <= ${maxCreators}::int then uuid::text else ${farShare}::text end
    from chain order by creators desc limit 1)`

/** How many lookups of ids that may be made up run at once; others would wait behind them on the connection. */
const maxNewLookups = 8

/** How long each of them keeps its place afterwards: rejecting unknown keys takes the processor from other requests. */
const restMillis = 5

const tooManyLookups = RateLimitExceededError.retryIn(
  "Too many requests of this address wait for the lookup of a key; try again"
)

/** The reads that authenticate a request. */
export const make = (keys: SqlClient.SqlClient, weighted: ReadonlyArray<string>) => {
  const inShare = FairPermits.make({
    permits: maxNewLookups,
    maxShare: 0.5,
    maxLong: maxNewLookups,
    maxWait: "4 seconds",
    restMillis,
    overShare: tooManyLookups
  })
  const findById = (id: string) =>
    // A row comes back for an unknown id too: the time to read one would reveal that the id exists.
    keys<StoredKey & { readonly found: boolean }>`
      select coalesce(uuid, '00000000-0000-0000-0000-000000000000') as uuid,
        coalesce(secret_hash, sha256('')) as "secretHash", revoked_at is not null as revoked,
        coalesce(expires_at <= now(), false) as expired, uuid is not null as found
        from (select ${id}::text as id) asked left join api_keys using (id)`.pipe(
      Effect.map(([row]) => Option.liftPredicate(row!, ({ found }) => found)),
      Effect.orDie
    )
  return {
    findById,
    findNewById: (id: string) => inShare(findById(id)),
    ended: (uuids: ReadonlyArray<ApiKeyId>) =>
      keys<EndedKey>`
        select uuid, case when revoked_at is null then 'expired' else 'revoked' end as reason from api_keys
          where uuid = any (${uuids}::uuid[]) and (revoked_at is not null or expires_at <= now())`.pipe(Effect.orDie),
    calling: (uuid: ApiKeyId) =>
      keys<{ readonly permissions: ReadonlyArray<Permission>; readonly share: string }>`
        select permissions, ${shareOf(uuid, weighted)} as share from api_keys where uuid = ${uuid}`.pipe(
        Effect.map(([row]) => ({ uuid, share: row?.share ?? uuid, permissions: new Set(row?.permissions) })),
        Effect.orDie
      )
  }
}
