import { Cache, Duration, Effect, Exit } from "effect"
import type { Client } from "../../client/Client.ts"
import { isUuid } from "../../domain/schema/Fields.ts"
import type { GroupId } from "../../domain/people/Group.ts"
import type { LocationId } from "../../domain/locations/Location.ts"
import type { ProductId } from "../../domain/schema/ProductId.ts"
import type { UserId } from "../../domain/schema/UserId.ts"
import type { Failure } from "../Failures.ts"

/**
 * Files name records as people do: a location by its identifier, a user by its username, a group by its name, a product
 * by its identifier. Here the names become uuids and back; where a name is expected a uuid will do.
 */
interface Ids {
  readonly users: UserId
  readonly locations: LocationId
  readonly groups: GroupId
  readonly products: ProductId
}

/** What a file can name. */
export type Kind = keyof Ids

export const isKind = (kind: unknown): kind is Kind =>
  kind === "users" || kind === "locations" || kind === "groups" || kind === "products"

interface First<Id> {
  readonly data: ReadonlyArray<{ readonly uuid: Id }>
}

const capacity = 100_000

/**
 * Looks names up once each: of a thousand users that name one group, the first asks. What is missing is asked for again
 * where a later row of the file may make it.
 */
const lookup = <Id extends string>(
  kind: string,
  field: string,
  find: (name: string) => Effect.Effect<First<Id>, Failure>,
  { mayAppear } = { mayAppear: false }
) => {
  const missing = (name: string): Failure => ({
    _tag: `${kind}NotFoundError`,
    message: `No ${kind.toLowerCase()} has the ${field} "${name}"`
  })
  const ask = (name: string) =>
    Effect.map(find(name), ({ data: [first] }) => {
      const uuid = name.toLowerCase()
      return first?.uuid ?? (isUuid(uuid) ? (uuid as Id) : undefined)
    })
  const cache = Effect.runSync(
    Cache.makeWith(ask, { capacity, timeToLive: kept((uuid) => uuid !== undefined || !mayAppear) })
  )
  return (name: string) =>
    Effect.flatMap(Cache.get(cache, name), (uuid) =>
      uuid === undefined ? Effect.fail(missing(name)) : Effect.succeed(uuid)
    )
}

const reverse = <Id extends string>(nameOf: (uuid: Id) => Effect.Effect<string, Failure>) => {
  const cache = Effect.runSync(Cache.makeWith(nameOf, { capacity, timeToLive: kept(() => true) }))
  return (uuid: Id) => Cache.get(cache, uuid)
}

/** A service that was busy is asked again. */
const kept =
  <A>(keeps: (found: A) => boolean) =>
  (exit: Exit.Exit<A, Failure>) =>
    Exit.isSuccess(exit) && keeps(exit.value) ? Duration.infinity : Duration.zero

/** Names and uuids of the records of one service. */
export const make = ({ groups, locations, products, users }: Client["Service"]) => {
  const query = (field: string, value: string) => ({
    query: { limit: 1, filter: [{ field, operator: "equals" as const, value }] }
  })
  const uuids: { readonly [K in Kind]: (name: string) => Effect.Effect<Ids[K], Failure> } = {
    users: lookup("User", "username", (name) => users.list(query("username", name))),
    locations: lookup("Location", "identifier", (name) => locations.list(query("identifier", name))),
    groups: lookup("Group", "name", (name) => groups.list(query("name", name))),
    products: lookup("Product", "identifier", (name) => products.list(query("identifier", name)), { mayAppear: true })
  }
  const names: { readonly [K in Kind]: (uuid: Ids[K]) => Effect.Effect<string, Failure> } = {
    users: reverse((uuid) => Effect.map(users.get({ params: { uuid } }), ({ username }) => username)),
    locations: reverse((uuid) => Effect.map(locations.get({ params: { uuid } }), ({ identifier }) => identifier)),
    groups: reverse((uuid) => Effect.map(groups.get({ params: { uuid } }), ({ name }) => name)),
    products: reverse((uuid) => Effect.map(products.get({ params: { uuid } }), ({ identifier }) => identifier))
  }
  return {
    /** The uuid of what has the name, or is the uuid itself; a name that nothing has is the error. */
    uuidOf: <K extends Kind>(kind: K, name: string) => uuids[kind](name),
    /** The name of what has the uuid. */
    nameOf: <K extends Kind>(kind: K, uuid: Ids[K]) => names[kind](uuid)
  }
}

export type Names = ReturnType<typeof make>
