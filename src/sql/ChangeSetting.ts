import { Effect } from "effect"
import { CurrentChange } from "../domain/changes/Actor.ts"
import { type Fragment, sql } from "./Fragment.ts"

/**
 * The expression by which a statement says who makes the change: a setting that ends with its transaction. The triggers that
 * log run after the statement, so that it may stand anywhere in it, where it is evaluated once.
 */
export const changeSetting: Effect.Effect<Fragment> = Effect.map(
  CurrentChange,
  (change) => sql`set_config('waypost.change', ${JSON.stringify(change)}::text, true)`
)

/** The expression by which a statement on a join table says which side of it is being replaced. */
export const ownerSetting = (owner: string): Fragment => sql`set_config('waypost.owner', ${owner}::text, true)`

/** The expression by which a transaction that is undone says that the writes of records in it are not logged. */
export const trialSetting: Fragment = sql`set_config('waypost.trial', 'on', true)`
