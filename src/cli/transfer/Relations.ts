import { Effect, Schema } from "effect"
import type { Client } from "../../client/Client.ts"
import type { GroupId } from "../../domain/people/Group.ts"
import { maxLimit } from "../../domain/query/Pagination.ts"
import { normalise } from "../../domain/schema/Normalise.ts"
import type { UserId } from "../../domain/schema/UserId.ts"
import type { Failure } from "../Failures.ts"
import * as Names from "./Names.ts"
import type { Page } from "./Resource.ts"

interface Members {
  readonly users?: ReadonlyArray<string> | undefined
  readonly locations?: ReadonlyArray<string> | undefined
  readonly groups?: ReadonlyArray<string> | undefined
}

/** Members of a relation by name, sorted, so that equal sets are equal lists. */
export const names = Schema.Array(Schema.String.check(Schema.isMinLength(1)))
  .check(Schema.isMaxLength(10_000))
  .pipe(Schema.decode(normalise<ReadonlyArray<string>>((sent) => [...new Set(sent)].toSorted())))

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

/** A page whose records are extended by `f`, for example with their members. */
export const enrich = <A, B>(page: Effect.Effect<Page<A>, Failure>, f: (record: A) => Effect.Effect<B, Failure>) =>
  Effect.flatMap(page, ({ data, pagination }) =>
    Effect.map(Effect.forEach(data, f, { concurrency: 8 }), (enriched) => ({ data: enriched, pagination }))
  )

const identifiers = (list: (page: number) => Effect.Effect<Page<{ readonly identifier: string }>, Failure>) =>
  Effect.map(all(list), (records) => records.map(({ identifier }) => identifier).toSorted())

/** Reads and resolves members of relations by name. */
export const make = (client: Client["Service"]) => {
  const { uuidOf } = Names.make(client)
  const uuidsOf = <K extends Names.Kind>(kind: K, members: ReadonlyArray<string> | undefined) =>
    members && Effect.forEach(members, (name) => uuidOf(kind, name), { concurrency: 8 })
  const query = (page: number) => ({ query: { limit: maxLimit, page } })
  return {
    /** The uuids of the named members; fails for the first unknown name. */
    resolve: Effect.fnUntraced(function* ({ groups, locations, users }: Members) {
      const [userIds, locationIds, groupIds] = [
        uuidsOf("users", users),
        uuidsOf("locations", locations),
        uuidsOf("groups", groups)
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
    /** The identifiers of the locations of a user. */
    locationsOfUser: (uuid: UserId) =>
      identifiers((page) => client.users.listLocations({ params: { uuid }, ...query(page) })),
    /** The identifiers of the locations of a group. */
    locationsOfGroup: (uuid: GroupId) =>
      identifiers((page) => client.groups.listLocations({ params: { uuid }, ...query(page) }))
  }
}
