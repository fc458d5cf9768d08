import { Effect, Option } from "effect"
import type { SqlClient } from "effect/sql"
import type { ApiKeyId } from "../../domain/keys/ApiKey.ts"
import type { Permission } from "../../domain/keys/Permission.ts"
import { RateLimitExceededError } from "../../domain/write/RequestErrors.ts"
import * as FairPermits from "../../sql/connections/FairPermits.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"

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

/** How many keys of one creator have shares of their own. */
const maxOwnShares = 20

/**
 * The key in whose share a key counts. A rotated key counts in that of its predecessor; one created by an expiring key, or
 * after twenty others of its creator, in that of its creator; a key with a weight of its own in its own.
 */
const shareOf = (uuid: string, weighted: ReadonlyArray<string>): Fragment => sql`(
  with recursive chain (uuid, length) as (
    select ${uuid}::uuid, 0
    union all
    select ancestor.uuid, chain.length + 1 from chain, lateral (
      select uuid from api_keys where replaced_by_uuid = chain.uuid
      union all
      select creator.uuid from api_keys k join api_keys creator on creator.uuid = k.created_by_key_uuid
        where k.uuid = chain.uuid and (creator.expires_at is not null or ${maxOwnShares}::int <= (
          select count(*) from (
            select from api_keys other where other.created_by_key_uuid = creator.uuid and other.uuid < k.uuid
              order by other.uuid limit ${maxOwnShares}::int
          ) older
        ))
      limit 1
    ) ancestor
    where chain.length < 100 and not chain.uuid::text = any (${weighted}::text[])
  ) select uuid::text from chain order by length desc limit 1)`

/** How many lookups of ids that may be made up run at once; others would wait behind them on the connection. */
const maxNewLookups = 8

/** How long each of them keeps its place afterwards: rejecting unknown keys takes the processor from other requests. */
const restMillis = 5

const tooManyLookups = new RateLimitExceededError({
  message: "Too many requests of this address wait for the lookup of a key; try again in 1 s",
  retryAfterSeconds: 1
})

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
