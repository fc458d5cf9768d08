import { Context, Effect, Layer, type Option } from "effect"
import type { SqlError } from "effect/sql"
import type { EncodedPage } from "../../domain/schema/Encoded.ts"
import { Group, GroupNotFoundError } from "../../domain/people/Group.ts"
import { Location, LocationNotFoundError } from "../../domain/locations/Location.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import { User, UserNotFoundError } from "../../domain/people/User.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import type { ListRequest } from "../../sql/Listing.ts"
import type { Scope } from "../../sql/ListSql.ts"
import { computedOf } from "../locations/LocationMedia.ts"
import * as Records from "../../sql/Records.ts"
import { Sql } from "../../sql/Sql.ts"
import { transaction } from "../../sql/SqlErrors.ts"

/** The three kinds of record that belong to each other. */
const kinds = {
  users: { record: User, notFound: UserNotFoundError, column: "user_uuid" },
  locations: { record: Location, notFound: LocationNotFoundError, column: "location_uuid" },
  groups: { record: Group, notFound: GroupNotFoundError, column: "group_uuid" }
} as const

type Kinds = typeof kinds
export type Kind = keyof Kinds
type RecordOf<K extends Kind> = Kinds[K]["record"]["Type"]
type NotFound<K extends Kind> = InstanceType<Kinds[K]["notFound"]>

/** The reads of any kind: which one it is, the callers' types remember. */
interface Reads {
  readonly checkPrecondition: (uuid: string, precondition: Precondition) => Effect.Effect<boolean>
  readonly listWithin: (scope: Scope, request: ListRequest) => Effect.Effect<Option.Option<EncodedPage<unknown>>>
}

/** The join tables, in the order in which they are locked. */
const tables = ["user_locations", "user_groups", "group_locations"] as const

/** The join table of two kinds, whichever way round. */
const tableOf = (a: Kind, b: Kind): string => {
  const both = new Set([a, b])
  if (!both.has("groups")) return "user_locations"
  return both.has("users") ? "user_groups" : "group_locations"
}

/** Groups know their sizes; the others are counted, off an index. */
const totalOf = (owner: Kind, member: Kind): string =>
  owner === "groups"
    ? `select ${member === "users" ? "user_count" : "location_count"} from groups where uuid = $owner`
    : `select count(*)::int from ${tableOf(owner, member)} where ${kinds[owner].column} = $owner`

/**
 * Who belongs where: which users, locations and groups belong to each other.
 *
 * A replacement touches only the rows that change, and nothing at all when one of the members does not exist. Of two at
 * the same time one comes after the other.
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
    replace<Owner extends Kind, Member extends Kind>(
      owner: Owner,
      uuid: string,
      member: Member,
      members: ReadonlyArray<string>,
      precondition: Precondition
    ): Effect.Effect<void, NotFound<Owner> | NotFound<Member>>
    /** Fails with all the members that do not exist. */
    known<Member extends Kind>(
      member: Member,
      members: ReadonlyArray<string>
    ): Effect.Effect<void, NotFound<Member> | SqlError.SqlError>
    /** Runs a write that takes records of a kind away, while nobody changes what they belong to. */
    withRelationLock<A, E>(kind: Kind, write: Effect.Effect<A, E>): Effect.Effect<A, Exclude<E, SqlError.SqlError>>
  }
>()("waypost/repositories/people/Memberships") {
  static readonly layer = Layer.effect(
    Memberships,
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const reads: Readonly<Record<Kind, Reads>> = {
        users: yield* Records.readsOf({ table: "users", record: User }),
        locations: yield* Records.readsOf({
          table: "locations",
          record: Location,
          computed: computedOf(yield* PublicUrl)
        }),
        groups: yield* Records.readsOf({ table: "groups", record: Group })
      }

      /** One writer of a join table at a time: two that come from both sides would wait for each other's rows. */
      const lock = (table: string) =>
        pooled.unsafe("select pg_advisory_xact_lock(hashtext('waypost'), hashtext($1))", [table])

      const scope = (owner: Kind, uuid: string, member: Kind): Scope => {
        const sql =
          (text: string): Scope["total"] =>
          (parameters) =>
            text.replaceAll("$owner", parameters.add(uuid, "uuid"))
        return {
          name: `${owner} ${uuid} ${member}`,
          where: sql(`exists (select from ${tableOf(owner, member)} r
            where r.${kinds[member].column} = t.uuid and r.${kinds[owner].column} = $owner)`),
          total: sql(totalOf(owner, member)),
          found: sql(`exists (select from ${owner} where uuid = $owner)`)
        }
      }

      const list = (owner: Kind, uuid: string, member: Kind, request: ListRequest) =>
        Effect.flatMap(reads[member].listWithin(scope(owner, uuid, member), request), (page) =>
          Effect.fromOption(page, () => kinds[owner].notFound.of(uuid))
        )

      const known = Effect.fnUntraced(function* (member: Kind, members: ReadonlyArray<string>) {
        const missing = yield* pooled.unsafe<{ readonly uuid: string }>(
          `select wanted::text as uuid from unnest($1::uuid[]) wanted
            where not exists (select from ${member} where uuid = wanted)`,
          [members]
        )
        if (missing.length > 0) return yield* kinds[member].notFound.ofAll(missing.map((row) => row.uuid))
      })

      const replaceOnce = Effect.fnUntraced(function* (
        owner: Kind,
        uuid: string,
        member: Kind,
        members: ReadonlyArray<string>,
        precondition: Precondition
      ) {
        const table = tableOf(owner, member)
        const [own, other] = [kinds[owner].column, kinds[member].column]
        yield* lock(table)
        const found = yield* pooled.unsafe(`select 1 from ${owner} where uuid = $1 for no key update`, [uuid])
        if (found.length === 0) return yield* kinds[owner].notFound.of(uuid)
        if (precondition !== undefined) yield* reads[owner].checkPrecondition(uuid, precondition)
        yield* known(member, members)
        if (member === "groups") {
          // Their sizes are about to change; locked later, their rows could be waited for from both ends.
          yield* pooled.unsafe(
            `select from groups where uuid = any ($2::uuid[])
              or uuid in (select group_uuid from ${table} where ${own} = $1) order by uuid for no key update`,
            [uuid, members]
          )
        }
        yield* pooled.unsafe(`delete from ${table} where ${own} = $1 and not ${other} = any ($2::uuid[])`, [
          uuid,
          members
        ])
        yield* pooled.unsafe(
          `insert into ${table} (${own}, ${other}) select $1::uuid, wanted from unnest($2::uuid[]) wanted
            where not exists (select from ${table} where ${own} = $1::uuid and ${other} = wanted)
            order by wanted on conflict do nothing`,
          [uuid, members]
        )
      })

      const replace = (...args: Parameters<typeof replaceOnce>) => transaction(pooled, replaceOnce(...args))

      const withRelationLock = <A, E>(kind: Kind, write: Effect.Effect<A, E>) => {
        const touched = tables.filter((table) => table.includes(kind.slice(0, -1)))
        return transaction(pooled, Effect.andThen(Effect.forEach(touched, lock), write))
      }

      return Memberships.of({ known, list, replace, withRelationLock } as unknown as Memberships["Service"])
    })
  )
}
