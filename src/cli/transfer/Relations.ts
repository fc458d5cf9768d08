import { Effect, Schema, SchemaTransformation } from "effect"
import type { Client } from "../../client/Client.ts"
import type { GroupId } from "../../domain/people/Group.ts"
import { maxLimit, type Pagination } from "../../domain/query/Pagination.ts"
import type { UserId } from "../../domain/schema/UserId.ts"
import type { Failure } from "../Failures.ts"
import * as Names from "./Names.ts"

/** Relations in a file: their members by name, in one list. */
interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly pagination: Pagination
}

interface Members {
  readonly users?: ReadonlyArray<string> | undefined
  readonly locations?: ReadonlyArray<string> | undefined
  readonly groups?: ReadonlyArray<string> | undefined
}

/** Members of a relation, by the name people know them by; in one order, so that equal sets are equal lists. */
export const names = Schema.Array(Schema.String.check(Schema.isMinLength(1)))
  .check(Schema.isMaxLength(10_000))
  .pipe(
    Schema.decode(
      SchemaTransformation.transform<ReadonlyArray<string>, ReadonlyArray<string>>({
        decode: (sent) => [...new Set(sent)].toSorted(),
        encode: (sorted) => sorted
      })
    )
  )

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

/** Members of relations by name, on one service. */
export const make = (client: Client["Service"]) => {
  const { uuidOf } = Names.make(client)
  const uuidsOf = <K extends Names.Kind>(kind: K, members: ReadonlyArray<string> | undefined) =>
    members && Effect.forEach(members, (name) => uuidOf(kind, name), { concurrency: 8 })
  const query = (page: number) => ({ query: { limit: maxLimit, page } })
  return {
    /** The uuids of the named members; the first name that nobody has is the error. */
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
