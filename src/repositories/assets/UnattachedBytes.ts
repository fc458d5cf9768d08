import { Array as Arr, Effect, type Option } from "effect"
import type { SqlClient } from "effect/sql"

/** The bytes that a share may have in open uploads and in files that no record refers to, of the last 24 hours. */
export interface Quota {
  /** The uuid of the share. */
  readonly share: string
  readonly maxBytes: number
}

/**
 * If so many bytes more exceed the quota: after how many seconds some bytes no longer count. Open uploads count with the
 * size that they declare.
 */
export const secondsUntilFreed = (
  sql: SqlClient.SqlClient,
  { maxBytes, share }: Quota,
  more: number
): Effect.Effect<Option.Option<number>> =>
  sql<{ readonly seconds: number }>`
    select greatest(1, ceil(extract(epoch from min(until) - now())))::int as seconds
      from (
        select created_at + interval '24 hours' as until, size as bytes from files
          where unattached_since is not null and case when unattached_since is not null then share_uuid end = ${share}::uuid
            and created_at > now() - interval '24 hours'
        union all
        select expires_at, file_size from upload_sessions
          where share_uuid = ${share}::uuid and status = 'open' and expires_at > now()
      ) held
      having sum(bytes) + ${more}::bigint > ${maxBytes}::bigint`.pipe(
    Effect.map((rows) => Arr.head(rows.map(({ seconds }) => seconds))),
    Effect.orDie
  )
