import { Context, Effect, Layer, type Option } from "effect"
import type { SqlError } from "effect/sql"
import type { EncodedPage } from "../../domain/schema/Encoded.ts"
import { Group, GroupNotFoundError } from "../../domain/people/Group.ts"
import { Location, LocationNotFoundError } from "../../domain/locations/Location.ts"
import { noPrecondition, type Precondition } from "../../domain/query/Precondition.ts"
import { User, UserNotFoundError } from "../../domain/people/User.ts"
import * as Written from "../../domain/write/Written.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import type { ListRequest } from "../../sql/Listing.ts"
import type { Scope } from "../../sql/ListSql.ts"
import { computedOf } from "../locations/LocationMedia.ts"
import { checkSetPrecondition } from "../../sql/EntityTag.ts"
import { sql } from "../../sql/Fragment.ts"
import { replaceLinks } from "../../sql/Links.ts"
import * as Reads from "../../sql/Reads.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"
import * as RelationLock from "./RelationLock.ts"
import { columns, type Kind, scopeOf, setTagOf, tableOf, tables } from "./RelationTables.ts"

/** The records that belong to each other, and their errors. */
interface Kinds {
  readonly users: { readonly record: User; readonly notFound: UserNotFoundError }
  readonly locations: { readonly record: Location; readonly notFound: LocationNotFoundError }
  readonly groups: { readonly record: Group; readonly notFound: GroupNotFoundError }
}
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

interface ReadsOf<K extends Kind> {
  readonly lock: (uuid: string, precondition: Precondition) => Effect.Effect<void, NotFound<K> | SqlError.SqlError>
  readonly listWithin: (scope: Scope, request: ListRequest) => Effect.Effect<Option.Option<EncodedPage<RecordOf<K>>>>
}

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
    /** Replaces the members of a record, all at once. The precondition is on the set of its members. */
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

      const exclusively = RelationLock.make(pooled)

      const list = <Owner extends Kind, Member extends Kind>(
        owner: Owner,
        uuid: string,
        member: Member,
        request: ListRequest
      ) =>
        Effect.flatMap(reads[member].listWithin(scopeOf(owner, uuid, member), request), (page) =>
          Effect.fromOption(page, () => notFound[owner].of(uuid))
        )

      const known = Effect.fnUntraced(function* <Member extends Kind>(member: Member, members: ReadonlyArray<string>) {
        const missing = yield* pooled<{ readonly uuid: string }>`
          select wanted.uuid::text as uuid from unnest(${members}::uuid[]) with ordinality wanted (uuid, place)
            where not exists (select from ${pooled(member)} t where t.uuid = wanted.uuid) order by place`
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
        const names = { table, kind: owner, owner: columns[owner], member: columns[member] }
        const [row] = yield* pooled<{ readonly changes: number }>`${replaceLinks(names, uuid, members)}`
        return row!.changes
      })

      const readSetTag = Effect.fnUntraced(function* (owner: Kind, uuid: string, member: Kind) {
        const [row] = yield* pooled<{ readonly setTag: string }>`${setTagOf(owner, uuid, member)} as "setTag"`
        return row!.setTag
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
            yield* reads[owner].lock(uuid, noPrecondition)
            if (precondition !== undefined) {
              const current = yield* readSetTag(owner, uuid, member)
              yield* checkSetPrecondition(precondition, current, `GET /v1/${owner}/${uuid}/${member}`)
            }
            yield* known(member, members)
            const changes = yield* replaceRows(owner, uuid, member, members)
            return {
              ...Written.updated(owner, uuid, changes > 0),
              setTag: yield* readSetTag(owner, uuid, member)
            }
          })
        )

      const withRelationLock = <A, E>(kind: Kind, write: Effect.Effect<A, E>) =>
        exclusively(Object.values(tables[kind]), write)

      return traced(Memberships, { known, list, replace, withRelationLock })
    })
  )
}
