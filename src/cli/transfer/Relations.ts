import { Effect, Schema, Stream } from "effect"
import type { Client } from "../../client/Client.ts"
import type { GroupId } from "../../domain/people/Group.ts"
import { normalise } from "../../domain/schema/Normalise.ts"
import type { UserId } from "../../domain/schema/UserId.ts"
import type { Failure } from "../Failures.ts"
import type { Page } from "./Resource.ts"
import * as WholeList from "./WholeList.ts"

/** Members of a relation by name, sorted, so that equal sets are equal lists. */
export const names = Schema.Array(Schema.String.check(Schema.isMinLength(1)))
  .check(Schema.isMaxLength(10_000))
  .pipe(Schema.decode(normalise<ReadonlyArray<string>>((sent) => [...new Set(sent)].toSorted())))

/** The names of the members of a relation, sorted. */
const namesOf = <A>(list: WholeList.List<A>["list"], nameOf: (member: A) => string) =>
  WholeList.readAll({ list }).pipe(
    Stream.map(nameOf),
    Stream.runCollect,
    Effect.map((found) => found.toSorted())
  )

/** A page whose records are extended by `f`, for example with their members. */
export const enrich = <A, B>(page: Effect.Effect<Page<A>, Failure>, f: (record: A) => Effect.Effect<B, Failure>) =>
  Effect.flatMap(page, ({ data, pagination }) =>
    Effect.map(Effect.forEach(data, f, { concurrency: 8 }), (enriched) => ({ data: enriched, pagination }))
  )

/** Reads the members of records by name. */
export const make = (client: Client["Service"]) => ({
  /** The usernames of a group's users. */
  usersOf: (uuid: GroupId) =>
    namesOf(
      (query) => client.groups.listUsers({ params: { uuid }, query }),
      ({ username }) => username
    ),
  /** The identifiers of the locations of a user. */
  locationsOfUser: (uuid: UserId) =>
    namesOf(
      (query) => client.users.listLocations({ params: { uuid }, query }),
      ({ identifier }) => identifier
    ),
  /** The identifiers of the locations of a group. */
  locationsOfGroup: (uuid: GroupId) =>
    namesOf(
      (query) => client.groups.listLocations({ params: { uuid }, query }),
      ({ identifier }) => identifier
    )
})
