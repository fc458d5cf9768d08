import { Cache, Effect } from "effect"
import type { Client } from "../client/Client.ts"
import type { Condition } from "../domain/Filter.ts"
import { type GroupId, GroupNotFoundError } from "../domain/Group.ts"
import { type LocationId, LocationNotFoundError } from "../domain/Location.ts"
import { maxLimit, type Pagination } from "../domain/Pagination.ts"
import { UserNotFoundError } from "../domain/User.ts"
import type { UserId } from "../domain/UserId.ts"
import type { Failure } from "./Failures.ts"

/**
 * Relations in a file name their members as people do: a location by its identifier, a user by its username, a group by
 * its name. Here the names become uuids and back.
 */
interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly pagination: Pagination
}

interface Members {
  readonly users?: ReadonlyArray<string> | undefined
  readonly locations?: ReadonlyArray<string> | undefined
  readonly groups?: ReadonlyArray<string> | undefined
}

/** All pages of a list. */
const all = <A>(list: (page: number) => Effect.Effect<Page<A>, Failure>) =>
  Effect.gen(function* () {
    const records: Array<A> = []
    for (let page = 1, pages = 1; page <= pages; page++) {
      const { data, pagination } = yield* list(page)
      records.push(...data)
      pages = pagination.pageCount
    }
    return records
  })

/** A page whose records have been told who belongs to them. */
export const enrich = <A, B>(page: Effect.Effect<Page<A>, Failure>, f: (record: A) => Effect.Effect<B, Failure>) =>
  Effect.flatMap(page, ({ data, pagination }) =>
    Effect.map(Effect.forEach(data, f, { concurrency: 8 }), (enriched) => ({ data: enriched, pagination }))
  )

const exactly = (field: string, value: string): ReadonlyArray<Condition> => [{ field, operator: "equals", value }]

/** Looks names up once each: of a thousand users that name one group, the first asks. */
const lookup = <Id>(
  find: (name: string) => Effect.Effect<Page<{ readonly uuid: Id }>, Failure>,
  missing: (name: string) => Failure
) => {
  const cache = Effect.runSync(
    Cache.make({
      capacity: 100_000,
      lookup: (name: string) =>
        Effect.flatMap(find(name), ({ data: [first] }) =>
          first === undefined ? Effect.fail(missing(name)) : Effect.succeed(first.uuid)
        )
    })
  )
  return (names: ReadonlyArray<string> | undefined) =>
    names && Effect.forEach(names, (name) => Cache.get(cache, name), { concurrency: 8 })
}

/** Names and uuids of the members of relations, on one service. */
export const make = (client: Client["Service"]) => {
  const uuidsOf = {
    users: lookup<UserId>(
      (name) => client.users.list({ query: { limit: 1, filter: exactly("username", name) } }),
      (name) => new UserNotFoundError({ message: `No user has the username "${name}"` })
    ),
    locations: lookup<LocationId>(
      (name) => client.locations.list({ query: { limit: 1, filter: exactly("identifier", name) } }),
      (name) => new LocationNotFoundError({ message: `No location has the identifier "${name}"` })
    ),
    groups: lookup<GroupId>(
      (name) => client.groups.list({ query: { limit: 1, filter: exactly("name", name) } }),
      (name) => new GroupNotFoundError({ message: `No group has the name "${name}"` })
    )
  }
  const query = (page: number) => ({ query: { limit: maxLimit, page } })
  return {
    /** The uuids of the named members; the first name that nobody has is the error. */
    resolve: Effect.fnUntraced(function* ({ groups, locations, users }: Members) {
      const [userIds, locationIds, groupIds] = [
        uuidsOf.users(users),
        uuidsOf.locations(locations),
        uuidsOf.groups(groups)
      ]
      return {
        ...(userIds && { users: yield* userIds }),
        ...(locationIds && { locations: yield* locationIds }),
        ...(groupIds && { groups: yield* groupIds })
      }
    }),
    /** The usernames of a group's users. */
    usersOf: (uuid: GroupId) =>
      Effect.map(
        all((page) => client.groups.listUsers({ params: { uuid }, ...query(page) })),
        (users) => users.map(({ username }) => username).toSorted()
      ),
    /** The identifiers of the locations of a user or a group. */
    locationsOf: (owner: "users" | "groups", uuid: UserId | GroupId) =>
      Effect.map(
        all((page) =>
          owner === "users"
            ? client.users.listLocations({ params: { uuid: uuid as UserId }, ...query(page) })
            : client.groups.listLocations({ params: { uuid: uuid as GroupId }, ...query(page) })
        ),
        (locations) => locations.map(({ identifier }) => identifier).toSorted()
      )
  }
}
