import { sql } from "../../sql/Fragment.ts"

/**
 * Takes the lock of the trigger of `asset_categories` for moves until the transaction ends. A transaction that locks a row takes
 * this lock first.
 */
export const lockMovesSql = sql`update asset_categories set parent_uuid = null where false`

/**
 * Lets the transaction give its connection back early. One that puts many assets into a category keeps changes of the category out for
 * seconds.
 */
export const limitWaitsSql = sql`set local lock_timeout = '250ms'`
