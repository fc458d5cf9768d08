import { Context, Effect, Layer, Option } from "effect"
import type { SqlError } from "effect/sql"
import type { EncodedPage } from "../../domain/schema/Encoded.ts"
import { Group, GroupNotFoundError } from "../../domain/people/Group.ts"
import { Location, LocationNotFoundError } from "../../domain/locations/Location.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import { User, UserNotFoundError } from "../../domain/people/User.ts"
import type { RelationKind } from "../../domain/write/Relations.ts"
import * as Written from "../../domain/write/Written.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import type { ListRequest } from "../../sql/lists/Listing.ts"
import type { Scope } from "../../sql/View.ts"
import type { Kinds } from "../changes/RecordKinds.ts"
import { computedOf } from "../locations/LocationMedia.ts"
import type { Turns } from "../../sql/connections/FairPermits.ts"
import { setChanged } from "../../sql/EntityTag.ts"
import type { Relations } from "../../sql/Links.ts"
import * as Reads from "../../sql/Reads.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"
import * as Included from "./Included.ts"
import * as RelationLock from "./RelationLock.ts"
import * as RelationStatements from "./RelationStatements.ts"
import { scopeOf, tableOf, tables } from "./RelationTables.ts"

type RecordOf<K extends RelationKind> = Kinds[K]["record"]
type NotFound<K extends RelationKind> = Kinds[K]["notFound"]

interface NotFoundOf<K extends RelationKind> {
  readonly of: (uuid: string) => NotFound<K>
  readonly ofAll: (uuids: ReadonlyArray<string>) => NotFound<K>
}

const notFound: { readonly [K in RelationKind]: NotFoundOf<K> } = {
  users: UserNotFoundError,
  locations: LocationNotFoundError,
  groups: GroupNotFoundError
}

interface ReadsOf<K extends RelationKind> {
  readonly listWithin: (scope: Scope, request: ListRequest) => Effect.Effect<Option.Option<EncodedPage<RecordOf<K>>>>
}

/** Sets with more members are replaced one at a time, because a replacement of many rows keeps the database busy. */
const maxSmall = 100

/**
 * Which users, locations and groups belong to each other.
 *
 * A replacement writes only the rows that change, and none when one of the members does not exist. Concurrent
 * replacements of small sets run at the same time.
 */
export class Memberships extends Context.Service<
  Memberships,
  {
    list<Owner extends RelationKind, Member extends RelationKind>(
      owner: Owner,
      uuid: string,
      member: Member,
      request: ListRequest
    ): Effect.Effect<EncodedPage<RecordOf<Member>>, NotFound<Owner>>
    /** Replaces the members of a record, all at once. The precondition is on the set of its members. */
    replace<Owner extends RelationKind, Id extends string, Member extends RelationKind>(
      owner: Owner,
      uuid: Id,
      member: Member,
      members: ReadonlyArray<string>,
      precondition: Precondition
    ): Effect.Effect<Written.Written<Owner, Id>, NotFound<Owner> | NotFound<Member>>
    /** What a batch writes of the relations of a kind of record. */
    relationsOf<Owner extends RelationKind>(
      owner: Owner,
      members: ReadonlyArray<Exclude<RelationKind, Owner>>
    ): Relations
    /** Fails with all the members that do not exist. */
    known<Member extends RelationKind>(
      member: Member,
      members: ReadonlyArray<string>
    ): Effect.Effect<void, NotFound<Member> | SqlError.SqlError>
    /** Runs a write that removes records of a kind, with the join tables of that kind locked and a permit, if it needs one. */
    withRelationLock<A, E>(
      kind: RelationKind,
      write: Effect.Effect<A, E>,
      permits?: Turns
    ): Effect.Effect<A, Exclude<E, SqlError.SqlError>>
  }
>()("waypost/repositories/people/Memberships") {
  static readonly layer = Layer.effect(
    Memberships,
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const publicUrl = yield* PublicUrl
      const included = Included.make(publicUrl)
      const reads: { readonly [K in RelationKind]: ReadsOf<K> } = {
        users: yield* Reads.make({
          table: "users",
          record: User,
          notFound: UserNotFoundError,
          related: included("users", ["locations", "groups"])
        }),
        locations: yield* Reads.make({
          table: "locations",
          record: Location,
          notFound: LocationNotFoundError,
          computed: computedOf(publicUrl),
          related: included("locations", ["users", "groups"])
        }),
        groups: yield* Reads.make({
          table: "groups",
          record: Group,
          notFound: GroupNotFoundError,
          related: included("groups", ["users", "locations"])
        })
      }

      const { exclusively, shared } = yield* RelationLock.make(pooled)
      const { differing, missingOf, replaceMany, replaceOne } = RelationStatements.make(pooled)

      const list = <Owner extends RelationKind, Member extends RelationKind>(
        owner: Owner,
        uuid: string,
        member: Member,
        request: ListRequest
      ) =>
        Effect.flatMap(reads[member].listWithin(scopeOf(owner, uuid, member), request), (page) =>
          Effect.fromOption(page, () => notFound[owner].of(uuid))
        )

      const known = Effect.fnUntraced(function* <Member extends RelationKind>(
        member: Member,
        members: ReadonlyArray<string>
      ) {
        const missing = yield* missingOf(member, members)
        if (missing.length > 0) return yield* Effect.fail(notFound[member].ofAll(missing))
      })

      const replace = Effect.fnUntraced(function* <
        Owner extends RelationKind,
        Id extends string,
        Member extends RelationKind
      >(owner: Owner, uuid: Id, member: Member, members: ReadonlyArray<string>, precondition: Precondition) {
        const table = tableOf(owner, member)
        const replacing = (maxMembers: number | null) =>
          replaceOne(owner, uuid, member, members, precondition, maxMembers)
        const small = members.length > maxSmall ? Option.none() : yield* shared(table, replacing(maxSmall))
        const row = yield* Option.match(
          Option.filter(small, ({ large }) => !large),
          {
            onNone: () => exclusively([table], replacing(null)),
            onSome: Effect.succeed
          }
        )
        if (!row.known) return yield* Effect.fail(notFound[owner].of(uuid))
        if (!row.current) return yield* setChanged(`GET /v1/${owner}/${uuid}/${member}`)
        if (row.missing.length > 0) return yield* Effect.fail(notFound[member].ofAll(row.missing))
        return { ...Written.updated(owner, uuid, row.changes > 0), setTag: row.tag }
      })

      const withRelationLock = <A, E>(kind: RelationKind, write: Effect.Effect<A, E>, permits?: Turns) =>
        exclusively(Object.values(tables[kind]), write, permits)

      const relationsOf = (owner: RelationKind, members: ReadonlyArray<RelationKind>): Relations => ({
        members,
        locked: (write, permits) => withRelationLock(owner, write, permits),
        missing: missingOf,
        differing: (member, sets) => differing(owner, member, sets),
        replace: (member, sets) => replaceMany(owner, member, sets)
      })

      return traced(Memberships, { known, list, relationsOf, replace, withRelationLock })
    })
  )
}
