import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Permission } from "../../domain/keys/Permission.ts"
import {
  type Counts,
  type Guard,
  limits,
  type PlanId,
  type PlanMode,
  type PlanResource
} from "../../domain/plans/Plan.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import type { Fragment } from "../../sql/Fragment.ts"
import { lockSql, transaction } from "../../sql/Transactions.ts"

/** A plan that is made. */
interface NewPlan {
  readonly resource: PlanResource
  readonly mode: PlanMode
  /** The key in whose share the plan counts. */
  readonly owner: string
}

/** What is known of a plan once its file is compared. */
interface Finished {
  readonly bytes: number
  readonly counts: Counts
  readonly guards: ReadonlyArray<Guard>
  readonly options: { readonly locks: boolean; readonly permissions: ReadonlyArray<Permission> }
}

/** Begins and finishes plans, of which a key has a limited number that are not applied. */
export const make = (pooled: SqlClient.SqlClient, isLive: Fragment) => {
  /**
   * Fails while a key has as many other plans that are not applied as it may. One that a process left unfinished no longer
   * counts after a while.
   */
  const checkOpen = Effect.fnUntraced(function* (uuid: PlanId, owner: string, bytes: number, unfinished: boolean) {
    const [open] = yield* Effect.orDie(pooled<{ readonly plans: number; readonly bytes: number }>`
      select count(*)::int as plans, coalesce(sum(bytes), 0)::float8 as bytes from plans p
        where p.owner = ${owner}::uuid and p.uuid <> ${uuid}::uuid and p.applied_at is null and ${isLive}
          and (p.is_ready or ${unfinished}::boolean and p.created_at > now() - interval '15 minutes')`)
    if (open!.plans >= limits.live || open!.bytes + bytes > limits.liveBytes) return yield* tooManyOpen
  })

  /** Fails if the plans of a key that are ready, and one of so many bytes, are more than it may have. */
  const checkBytes = (uuid: PlanId, owner: string, bytes: number) => checkOpen(uuid, owner, bytes, false)

  const begin = Effect.fnUntraced(function* (uuid: PlanId, { mode, owner, resource }: NewPlan) {
    yield* checkOpen(uuid, owner, 0, true)
    yield* Effect.orDie(pooled`
      insert into plans (uuid, owner, resource, mode, options)
        select ${uuid}::uuid, ${owner}::uuid, ${resource}::text, ${mode}::text,
          jsonb_build_object('sealed', coalesce(max(position), 0), 'pending', (select last_value from pending_changes_id_seq))
          from events`)
  })

  /** Makes a plan ready. The plans of a key become so one after the other, each of which counts those before it. */
  const finish = Effect.fnUntraced(
    function* (uuid: PlanId, owner: string, { bytes, counts, guards, options }: Finished) {
      yield* pooled`${lockSql("waypost plans", owner)}`
      yield* checkBytes(uuid, owner, bytes)
      yield* pooled`
        update plans set is_ready = true, bytes = ${bytes}::bigint, counts = ${JSON.stringify(counts)}::jsonb,
          guards = ${JSON.stringify(guards)}::jsonb, options = options || ${JSON.stringify(options)}::jsonb where uuid = ${uuid}::uuid`
    },
    (write) => transaction(pooled, write)
  )

  return { begin, checkBytes, finish }
}

const tooManyOpen = InvalidRequestError.at(
  "query",
  "",
  "tooManyOpen",
  `A key has at most ${limits.live} plans that are not applied, of ${limits.liveBytes / 1024 ** 2} MiB together; delete one`
)
