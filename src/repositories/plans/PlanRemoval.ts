import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { PlanId } from "../../domain/plans/Plan.ts"
import type { Fragment } from "../../sql/Fragment.ts"
import { removeInParts } from "../../sql/Parts.ts"

/** Removes plans, and what is not needed of them. */
export const make = (pooled: SqlClient.SqlClient, isLive: Fragment) => {
  /** Removes a plan: it is not found any more before its rows are removed, which are many. */
  const remove = Effect.fnUntraced(function* (uuid: PlanId) {
    const found = yield* pooled`update plans set is_ready = false where uuid = ${uuid}::uuid returning uuid`
    yield* removeInParts(
      (limit) => pooled`
        delete from plan_rows where plan = ${uuid}::uuid and place <= (
          select max(place) from (
            select place from plan_rows where plan = ${uuid}::uuid order by place limit ${limit}::int
          ) part
        ) returning true`
    )
    yield* pooled`delete from plans where uuid = ${uuid}::uuid`
    return found.length > 0
  })

  const removeExpired = pooled<{ readonly uuid: PlanId }>`select uuid from plans p where not ${isLive}`.pipe(
    Effect.flatMap(Effect.forEach(({ uuid }) => remove(uuid), { discard: true }))
  )

  /** Removes the rows of an applied plan that `changes` leaves out. */
  const trim = Effect.fnUntraced(function* (uuid: PlanId) {
    yield* removeInParts(
      (limit) => pooled`
        delete from plan_rows where plan = ${uuid}::uuid and place in (
          select place from plan_rows where plan = ${uuid}::uuid and kind = 'unchanged' order by place limit ${limit}::int
        ) returning true`
    )
    yield* pooled`update plans set options = options || '{"trimmed": true}' where uuid = ${uuid}::uuid`
  })

  const trimApplied = pooled<{ readonly uuid: PlanId }>`
    select uuid from plans where applied_at is not null and options->'trimmed' is null`.pipe(
    Effect.flatMap(Effect.forEach(({ uuid }) => trim(uuid), { discard: true }))
  )

  return { remove, prune: Effect.orDie(Effect.andThen(removeExpired, trimApplied)) }
}
