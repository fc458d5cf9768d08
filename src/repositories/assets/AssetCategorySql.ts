import { sql } from "../../sql/Fragment.ts"

/**
 * Takes the lock of the trigger of `asset_categories` for moves until the transaction ends. A transaction that locks a row takes
 * this lock first.
 */
export const lockMovesSql = sql`update asset_categories set parent_uuid = null where false`
