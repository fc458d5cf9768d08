import { Effect, Schema, Stream } from "effect"
import type { Client } from "../../client/Client.ts"
import type { GroupId } from "../../domain/people/Group.ts"
import { text } from "../../domain/schema/Fields.ts"
import { normalise } from "../../domain/schema/Normalise.ts"
import type { UserId } from "../../domain/people/UserId.ts"
import type { Failure } from "../Failures.ts"
import { maxName } from "./Names.ts"
import type { Page } from "./Resource.ts"
import * as WholeList from "./WholeList.ts"

/** Members of a relation by name, sorted, so that equal sets are equal lists. */
export const names = Schema.Array(text(maxName))
  .check(Schema.isMaxLength(10_000))
  .pipe(Schema.decode(normalise<ReadonlyArray<string>>((sent) => [...new Set(sent)].toSorted())))

/** Members in a file, which can leave them out; `null` is none. */
export const optionalNames = Schema.optionalKey(Schema.NullOr(names))

/** The names of the members of a relation, sorted. */
const namesOf = <A>(list: WholeList.List<A>["list"], nameOf: (member: A) => string) =>
  WholeList.readAll({ list }).pipe(
    Stream.map(nameOf),
    Stream.runCollect,
    Effect.map((found) => found.toSorted())
  )

const isGone = ({ _tag }: Failure) => /^(?:User|Location|Group|Product|Post)NotFoundError$/.test(_tag)

/** How often a record is read again that named a record which is deleted concurrently. */
const maxReads = 3

/** How records are extended, for example with their members. */
interface Enrichment<A, B> {
  readonly extend: (record: A) => Effect.Effect<B, Failure>
  readonly read: (record: A) => Effect.Effect<A, Failure>
}

/** Extends a record that may be deleted concurrently, or a record that it names. */
const extended = <A, B>(
  { extend, read }: Enrichment<A, B>,
  record: A,
  reads = maxReads
): Effect.Effect<ReadonlyArray<B>, Failure> =>
  Effect.matchEffect(extend(record), {
    onSuccess: (one) => Effect.succeed([one]),
    onFailure: (failure) => {
      if (reads === 0 || !isGone(failure)) return Effect.fail(failure)
      return Effect.matchEffect(read(record), {
        onSuccess: (again) => extended({ extend, read }, again, reads - 1),
        onFailure: (failure) => (isGone(failure) ? Effect.succeed([]) : Effect.fail(failure))
      })
    }
  })

/** A page whose records are extended, without those that are deleted concurrently. */
export const enrich = <A, B>(page: Effect.Effect<Page<A>, Failure>, enrichment: Enrichment<A, B>) =>
  Effect.flatMap(page, ({ data, pagination }) =>
    Effect.map(
      Effect.forEach(data, (record) => extended(enrichment, record), { concurrency: 8 }),
      (found) => ({ data: found.flat(), pagination })
    )
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
