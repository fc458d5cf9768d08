import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { AssetNotFoundError } from "../../domain/assets/Asset.ts"
import { FileNotFoundError } from "../../domain/assets/File.ts"

/** Locks the assets against deletion until the transaction ends; fails with all that do not exist. */
export const lockAssets = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, uuids: ReadonlyArray<string>) {
  const missing = yield* lockRows(sql, "assets", "key share", uuids)
  if (missing.length > 0) return yield* AssetNotFoundError.ofAll(missing)
})

/** The files exist, and no other transaction attaches or detaches one before this one ends; fails with all that do not. */
export const lockFiles = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, uuids: ReadonlyArray<string>) {
  const missing = yield* lockRows(sql, "files", "no key update", uuids)
  if (missing.length > 0) return yield* FileNotFoundError.ofAll(missing)
})

/** Locks the rows in one order, which avoids deadlocks; returns the uuids that do not exist. */
const lockRows = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  table: "assets" | "files",
  strength: "key share" | "no key update",
  uuids: ReadonlyArray<string>
) {
  if (uuids.length === 0) return []
  const rows = yield* sql<{ readonly uuid: string }>`
    select uuid from ${sql(table)} where uuid = any (${uuids}::uuid[]) order by uuid for ${sql.literal(strength)}`
  const held = new Set(rows.map(({ uuid }) => uuid))
  return Array.from(new Set(uuids)).filter((uuid) => !held.has(uuid))
})
