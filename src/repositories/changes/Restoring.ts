import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { CurrentChange } from "../../domain/changes/Actor.ts"
import { HistoryExpiredError } from "../../domain/changes/Errors.ts"
import { type RecordKind, typeOfKind } from "../../domain/changes/RecordType.ts"
import type { Permission } from "../../domain/keys/Permission.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import * as Written from "../../domain/write/Written.ts"
import { Settings } from "../../settings/Config.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import { checkPrecondition } from "../../sql/EntityTag.ts"
import { sql } from "../../sql/Fragment.ts"
import { Sql } from "../../sql/Sql.ts"
import { transaction } from "../../sql/Transactions.ts"
import { traced } from "../../sql/Traced.ts"
import { lockMovesSql } from "../assets/AssetCategorySql.ts"
import { lockDefinitionsSql } from "../assets/MetaTagSql.ts"
import { MetaTags } from "../assets/MetaTags.ts"
import { ThumbnailQueue } from "../assets/ThumbnailQueue.ts"
import * as ModuleReferences from "../catalog/ModuleReferences.ts"
import { ProductModules } from "../catalog/ProductModules.ts"
import { Memberships } from "../people/Memberships.ts"
import type { State } from "./EventValues.ts"
import { type Kinds, notFound } from "./RecordKinds.ts"
import { tableFor } from "./PastReads.ts"
import { statesOf } from "./PastTables.ts"
import * as Assets from "./restoring/Assets.ts"
import * as Locations from "./restoring/Locations.ts"
import * as People from "./restoring/People.ts"
import * as Posts from "./restoring/Posts.ts"
import * as Products from "./restoring/Products.ts"
import { lockSql, type Missing, type Restored, type Target } from "./restoring/Restoration.ts"

export interface RestoreRequest<E> {
  readonly uuid: string
  /** The event whose state the record gets; without one, a deleted record gets the state before its deletion. */
  readonly eventId: string | undefined
  readonly precondition: Precondition
  /** The permissions of the key that restores. */
  readonly permissions: ReadonlySet<Permission>
  /** The answer of the current read of the record, which the precondition is about. */
  readonly read: Effect.Effect<string, E>
}

/** What a restoration wrote, and what it could not restore. */
export interface WrittenRestoration<K extends string> extends Written.Written<K> {
  readonly missing: Missing
}

const make = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const { GUARD_USER_ROLES: guardsRoles } = yield* Settings
  const publicUrl = yield* PublicUrl
  const memberships = yield* Memberships
  const metaTags = yield* MetaTags
  const modules = yield* ProductModules
  const thumbnails = yield* ThumbnailQueue
  const references = ModuleReferences.make(pooled, memberships, publicUrl)

  /** The place in the log whose state the record gets. */
  const placeFor = Effect.fnUntraced(function* (
    uuid: string,
    eventId: string | undefined,
    { event, exists, pruned }: Facts
  ) {
    if (eventId === undefined) return exists ? yield* eventRequired : deletionOf(uuid)
    const position = positionOf(eventId)
    if (position > 0n && position <= BigInt(pruned)) return yield* expired
    if (event === null) return yield* unknownEvent
    return event.isRestorable ? sql`${String(position)}::bigint` : yield* notRestorable
  })

  /** The restoration of a kind, within its transaction. */
  const restoring =
    <K extends RecordKind, E>(kind: K, write: (target: Target) => Effect.Effect<Restored, E>) =>
    <E2>({ eventId, permissions, precondition, read, uuid }: RestoreRequest<E2>) => {
      const unknown: Effect.Effect<never, Kinds[K]["notFound"]> = Effect.suspend(() =>
        Effect.fail(notFound[kind].of(uuid))
      )
      const restore = Effect.gen(function* () {
        if (kind === "assetCategories") yield* pooled`${lockMovesSql}`
        if (kind === "metaTags") yield* pooled`${lockDefinitionsSql}`
        yield* pooled`${lockSql(uuid)}`
        const table = sql.literal(tableFor(kind))
        yield* pooled`select from ${table} where uuid = ${uuid}::uuid for no key update`
        const [facts] = yield* pooled<Facts>`${factsSql(kind, uuid, eventId)}`
        const { exists, hasHistory, isErased, wasDeleted } = facts!
        const hasState = exists || (hasHistory && (wasDeleted || eventId !== undefined))
        if (isErased || !hasState) return yield* unknown
        if (precondition !== undefined) {
          const current = exists ? yield* Effect.orDie(read) : undefined
          yield* checkPrecondition(precondition, current)
        }
        const place = yield* placeFor(uuid, eventId, facts!)
        const [row] = yield* pooled<{ readonly state: State }>`
          with moment as (select ${place} as place, '-infinity'::timestamptz as since),
            ${statesOf("restored_then", tableFor(kind), sql`select ${uuid}::uuid`)}
          select state from restored_then`
        // The values of a deleted location can have been erased.
        if (row === undefined || !hasNames(kind, row.state)) return yield* unknown
        const { changed, missing } = yield* write({ uuid, state: row.state, exists, place, permissions })
        const written = exists ? Written.updated(kind, uuid, changed) : Written.created(kind, uuid)
        return { ...written, missing } satisfies WrittenRestoration<K>
      })
      const inTransaction: Effect.Effect<
        Effect.Success<typeof restore>,
        Exclude<Effect.Error<typeof restore>, SqlError.SqlError>
      > = kind === "users" || kind === "locations" || kind === "groups"
        ? memberships.withRelationLock(kind, restore)
        : transaction(pooled, restore, { waitsForLocks: true })
      return Effect.flatMap(CurrentChange, (change) =>
        Effect.provideService(inTransaction, CurrentChange, { ...change, restores: uuid })
      )
    }

  return {
    users: restoring("users", People.user(pooled, guardsRoles)),
    locations: restoring("locations", Locations.location(pooled, publicUrl)),
    groups: restoring("groups", People.group(pooled)),
    products: restoring("products", Products.product(pooled, publicUrl, references, modules)),
    posts: restoring("posts", Posts.post(pooled)),
    assets: restoring("assets", Assets.asset(pooled, publicUrl, metaTags, thumbnails)),
    metaTags: restoring("metaTags", Assets.metaTag(pooled)),
    assetCategories: restoring("assetCategories", Assets.assetCategory(pooled))
  }
})

/** Restores records from the log: deleted ones, and existing ones to the state after one of their events. */
export class Restoring extends Context.Service<Restoring, Effect.Success<typeof make>>()(
  "waypost/repositories/changes/Restoring"
) {
  static readonly layer = Layer.effect(
    Restoring,
    Effect.map(make, (operations) => traced(Restoring, operations))
  )
}

interface Facts {
  readonly exists: boolean
  readonly hasHistory: boolean
  readonly isErased: boolean
  readonly wasDeleted: boolean
  readonly pruned: string
  /** The event of this record with the id of the request. */
  readonly event: { readonly isRestorable: boolean } | null
}

/** The ids of events end in their position. */
const positionOf = (eventId: string) => BigInt(`0x${eventId.replaceAll("-", "").slice(16)}`) & (2n ** 63n - 1n)

/**
 * The place in the log before the last deletion of a record. Sealing moves the deletion while the transaction runs, so that
 * each statement has to find it.
 */
const deletionOf = (uuid: string) => sql`(coalesce(
  (select waypost_pending_place(min(p.id)) from pending_changes p where p.uuid = ${uuid}::uuid and (p.tx, p.step) = (
    select d.tx, d.step from pending_changes d where d.uuid = ${uuid}::uuid and d.action = 'deleted' order by d.id desc limit 1)),
  (select max(e.position) from events e where e.record_uuid = ${uuid}::uuid and e.action = 'deleted')) - 1)`

const factsSql = (kind: RecordKind, uuid: string, eventId: string | undefined) => sql`
  select exists (select from ${sql.literal(tableFor(kind))} t where t.uuid = given.uuid) as exists,
    exists (select from events e where e.record_uuid = given.uuid and e.type = given.type)
      or exists (select from pending_changes p where p.uuid = given.uuid and p.type = given.type) as "hasHistory",
    exists (select from events e where e.record_uuid = given.uuid and e.type = given.type and e.action = 'erased') as "isErased",
    ${deletionOf(uuid)} is not null as "wasDeleted",
    (select pruned_position from event_log)::text as pruned,
    (select json_build_object('isRestorable', e.action not in ('deleted', 'erased') and not exists (
        select from event_erasures x where x.position = e.position))
      from events e where e.position = given.position and e.id = given.event and e.record_uuid = given.uuid and e.type = given.type) as event
  from (select ${uuid}::uuid as uuid, ${typeOfKind[kind]}::text as type, ${eventId ?? null}::uuid as event,
    ${eventId === undefined ? null : String(positionOf(eventId))}::bigint as position) given`

const hasNames = (kind: RecordKind, state: State) =>
  kind !== "locations" || (typeof state["name"] === "string" && typeof state["identifier"] === "string")

const eventRequired = InvalidRequestError.inBody(
  "eventId",
  "required",
  "The record exists; name the event after which its state is restored"
)
const unknownEvent = InvalidRequestError.inBody("eventId", "unknown", "The record has no event with this id")
const notRestorable = InvalidRequestError.inBody(
  "eventId",
  "notAllowed",
  "After a deletion or an erasure there is no state to restore; name an earlier event"
)
const expired = new HistoryExpiredError({ message: "The event was pruned; its state is not known" })
