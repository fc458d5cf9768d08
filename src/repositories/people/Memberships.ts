import { Context, Effect, Layer, Option, PartitionedSemaphore } from "effect"
import type { SqlError } from "effect/sql"
import type { EncodedPage } from "../../domain/schema/Encoded.ts"
import { Group, GroupNotFoundError } from "../../domain/people/Group.ts"
import { Location, LocationNotFoundError } from "../../domain/locations/Location.ts"
import { CurrentShare } from "../../domain/keys/Share.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import { User, UserNotFoundError } from "../../domain/people/User.ts"
import * as Written from "../../domain/write/Written.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import type { ListRequest } from "../../sql/Listing.ts"
import type { Scope } from "../../sql/ListSql.ts"
import { computedOf } from "../locations/LocationMedia.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { replaceLinks } from "../../sql/Links.ts"
import * as Reads from "../../sql/Reads.ts"
import { Sql } from "../../sql/Sql.ts"
import { transaction } from "../../sql/SqlErrors.ts"
import { traced } from "../../sql/Traced.ts"

/** The three kinds of record that belong to each other. */
interface Kinds {
  readonly users: { readonly record: User; readonly notFound: UserNotFoundError }
  readonly locations: { readonly record: Location; readonly notFound: LocationNotFoundError }
  readonly groups: { readonly record: Group; readonly notFound: GroupNotFoundError }
}
export type Kind = keyof Kinds
type RecordOf<K extends Kind> = Kinds[K]["record"]
type NotFound<K extends Kind> = Kinds[K]["notFound"]

interface NotFoundOf<K extends Kind> {
  readonly of: (uuid: string) => NotFound<K>
  readonly ofAll: (uuids: ReadonlyArray<string>) => NotFound<K>
}

const notFound: { readonly [K in Kind]: NotFoundOf<K> } = {
  users: UserNotFoundError,
  locations: LocationNotFoundError,
  groups: GroupNotFoundError
}

const columns: Readonly<Record<Kind, string>> = {
  users: "user_uuid",
  locations: "location_uuid",
  groups: "group_uuid"
}

interface ReadsOf<K extends Kind> {
  readonly lock: (uuid: string, precondition: Precondition) => Effect.Effect<void, NotFound<K> | SqlError.SqlError>
  readonly listWithin: (scope: Scope, request: ListRequest) => Effect.Effect<Option.Option<EncodedPage<RecordOf<K>>>>
}

/** The join tables of each kind with the others, in the order in which they are locked. */
const tables: Readonly<Record<Kind, Partial<Record<Kind, string>>>> = {
  users: { locations: "user_locations", groups: "user_groups" },
  locations: { users: "user_locations", groups: "group_locations" },
  groups: { users: "user_groups", locations: "group_locations" }
}

const tableOf = (owner: Kind, member: Kind): string => tables[owner][member]!

/** The size of a group is a column; the others are counted on an index. */
const totalOf = (owner: Kind, uuid: string, member: Kind): Fragment =>
  owner === "groups"
    ? sql`select ${sql.literal(member === "users" ? "user_count" : "location_count")} from groups where uuid = ${uuid}::uuid`
    : sql`select count(*)::int from ${sql.literal(tableOf(owner, member))}
      where ${sql.literal(columns[owner])} = ${uuid}::uuid`

/**
 * Which users, locations and groups belong to each other.
 *
 * A replacement writes only the rows that change, and none when one of the members does not exist. Concurrent
 * replacements run one after the other.
 */
export class Memberships extends Context.Service<
  Memberships,
  {
    list<Owner extends Kind, Member extends Kind>(
      owner: Owner,
      uuid: string,
      member: Member,
      request: ListRequest
    ): Effect.Effect<EncodedPage<RecordOf<Member>>, NotFound<Owner>>
    /** Replaces the members of a record, all at once. */
    replace<Owner extends Kind, Id extends string, Member extends Kind>(
      owner: Owner,
      uuid: Id,
      member: Member,
      members: ReadonlyArray<string>,
      precondition: Precondition
    ): Effect.Effect<Written.Written<Owner, Id>, NotFound<Owner> | NotFound<Member>>
    /** Fails with all the members that do not exist. */
    known<Member extends Kind>(
      member: Member,
      members: ReadonlyArray<string>
    ): Effect.Effect<void, NotFound<Member> | SqlError.SqlError>
    /** Runs a write that removes records of a kind, with the join tables of that kind locked. */
    withRelationLock<A, E>(kind: Kind, write: Effect.Effect<A, E>): Effect.Effect<A, Exclude<E, SqlError.SqlError>>
  }
>()("waypost/repositories/people/Memberships") {
  static readonly layer = Layer.effect(
    Memberships,
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const reads: { readonly [K in Kind]: ReadsOf<K> } = {
        users: yield* Reads.make({ table: "users", record: User, notFound: UserNotFoundError }),
        locations: yield* Reads.make({
          table: "locations",
          record: Location,
          notFound: LocationNotFoundError,
          computed: computedOf(yield* PublicUrl)
        }),
        groups: yield* Reads.make({ table: "groups", record: Group, notFound: GroupNotFoundError })
      }

      const turns = new Map<string, PartitionedSemaphore.PartitionedSemaphore<string>>()
      const turnsOf = (table: string) => {
        const known = turns.get(table) ?? PartitionedSemaphore.makeUnsafe<string>({ permits: 1 })
        turns.set(table, known)
        return known
      }

      /** One writer of a join table at a time: two that write it from both sides could deadlock. */
      const lock = (table: string) => pooled`
        select set_config('lock_timeout', '250ms', true), pg_advisory_xact_lock(hashtext('waypost'), hashtext(${table}))`

      /**
       * A transaction that writes join tables. It waits for its turn in this process before it takes a connection, and shares
       * take turns. The lock keeps the writers of other processes out; one that waits too long gives its connection back.
       */
      const exclusively = Effect.fnUntraced(function* <A, E>(names: ReadonlyArray<string>, write: Effect.Effect<A, E>) {
        const { id } = yield* CurrentShare
        const outer = yield* Effect.serviceOption(pooled.transactionService)
        const locked = Effect.andThen(Effect.forEach(names, lock), write)
        const written = transaction(pooled, locked, { waitsForLocks: true })
        if (Option.isSome(outer)) return yield* written
        const inTurn = names.toSorted().reduceRight((inner, name) => turnsOf(name).withPermit(id)(inner), written)
        return yield* inTurn
      })

      const scope = (owner: Kind, uuid: string, member: Kind): Scope => ({
        name: `${owner} ${uuid} ${member}`,
        where: () => sql`exists (select from ${sql.literal(tableOf(owner, member))} r
          where r.${sql.literal(columns[member])} = t.uuid and r.${sql.literal(columns[owner])} = ${uuid}::uuid)`,
        total: totalOf(owner, uuid, member),
        found: sql`exists (select from ${sql.literal(owner)} where uuid = ${uuid}::uuid)`
      })

      const list = <Owner extends Kind, Member extends Kind>(
        owner: Owner,
        uuid: string,
        member: Member,
        request: ListRequest
      ) =>
        Effect.flatMap(reads[member].listWithin(scope(owner, uuid, member), request), (page) =>
          Effect.fromOption(page, () => notFound[owner].of(uuid))
        )

      const known = Effect.fnUntraced(function* <Member extends Kind>(member: Member, members: ReadonlyArray<string>) {
        const missing = yield* pooled<{ readonly uuid: string }>`
          select wanted::text as uuid from unnest(${members}::uuid[]) wanted
            where not exists (select from ${pooled(member)} where uuid = wanted)`
        if (missing.length > 0) return yield* Effect.fail(notFound[member].ofAll(missing.map((row) => row.uuid)))
      })

      /** Replaces the rows of a join table, and returns how many rows that changed. */
      const replaceRows = Effect.fnUntraced(function* (
        owner: Kind,
        uuid: string,
        member: Kind,
        members: ReadonlyArray<string>
      ) {
        const table = tableOf(owner, member)
        if (member === "groups") {
          // The trigger updates their sizes; locking the rows now, in one order, avoids a deadlock.
          yield* pooled`
            select from groups where uuid = any (${members}::uuid[]) or uuid in (
              select group_uuid from ${sql.literal(table)} where ${sql.literal(columns[owner])} = ${uuid}::uuid
            ) order by uuid for no key update`
        }
        const names = { table, owner: columns[owner], member: columns[member] }
        const [row] = yield* pooled<{ readonly changes: number }>`${replaceLinks(names, uuid, members)}`
        return row!.changes
      })

      const replace = <Owner extends Kind, Id extends string, Member extends Kind>(
        owner: Owner,
        uuid: Id,
        member: Member,
        members: ReadonlyArray<string>,
        precondition: Precondition
      ) =>
        exclusively(
          [tableOf(owner, member)],
          Effect.gen(function* () {
            yield* reads[owner].lock(uuid, precondition)
            yield* known(member, members)
            return Written.updated(owner, uuid, (yield* replaceRows(owner, uuid, member, members)) > 0)
          })
        )

      const withRelationLock = <A, E>(kind: Kind, write: Effect.Effect<A, E>) =>
        exclusively(Object.values(tables[kind]), write)

      return traced(Memberships, { known, list, replace, withRelationLock })
    })
  )
}
