import { Cache, Duration, Effect, Exit, Schema } from "effect"
import type { Client } from "../../client/Client.ts"
import { GroupId } from "../../domain/people/Group.ts"
import { LocationId } from "../../domain/locations/Location.ts"
import type { Condition } from "../../domain/query/FilterConditions.ts"
import { ProductId } from "../../domain/schema/ProductId.ts"
import { UserId } from "../../domain/schema/UserId.ts"
import type { Failure } from "../Failures.ts"

/**
 * Files name locations and products by identifier, users by username and groups by name, or by uuid. These lookups
 * translate names to uuids and back.
 */
interface Ids {
  readonly users: UserId
  readonly locations: LocationId
  readonly groups: GroupId
  readonly products: ProductId
}

/** No record has the name. */
interface MissingReference extends Failure {
  readonly reference: string
}

/** The kinds of records that a file can name. */
export type Kind = keyof Ids

export const isKind = (kind: unknown): kind is Kind =>
  kind === "users" || kind === "locations" || kind === "groups" || kind === "products"

interface Search {
  readonly query: { readonly limit: number; readonly filter: ReadonlyArray<Condition> }
}

interface First<Id> {
  readonly data: ReadonlyArray<{ readonly uuid: Id }>
}

const capacity = 100_000

/** Looks up each name once. With `mayAppear`, unknown names are looked up again, because a later row may create them. */
const lookup = <Id extends string>(
  kind: string,
  field: string,
  list: (request: Search) => Effect.Effect<First<Id>, Failure>,
  isId: (text: string) => text is Id,
  { mayAppear } = { mayAppear: false }
) => {
  const missing = (name: string): MissingReference => ({
    _tag: `${kind}NotFoundError`,
    reference: name,
    message: `No ${kind.toLowerCase()} has the ${field} "${name}"`
  })
  const request = (name: string) =>
    Effect.map(
      list({ query: { limit: 1, filter: [{ field, operator: "equals", value: name }] } }),
      ({ data: [first] }) => {
        const uuid = name.toLowerCase()
        return first?.uuid ?? (isId(uuid) ? uuid : undefined)
      }
    )
  const cache = Effect.runSync(
    Cache.makeWith(request, { capacity, timeToLive: kept((uuid) => uuid !== undefined || !mayAppear) })
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

/** Failures are not cached. */
const kept =
  <A>(keeps: (found: A) => boolean) =>
  (exit: Exit.Exit<A, Failure>) =>
    Exit.isSuccess(exit) && keeps(exit.value) ? Duration.infinity : Duration.zero

/** Names and uuids of the records of one service. */
export const make = ({ groups, locations, products, users }: Client["Service"]) => {
  const uuids: { readonly [K in Kind]: (name: string) => Effect.Effect<Ids[K], Failure> } = {
    users: lookup("User", "username", users.list, Schema.is(UserId)),
    locations: lookup("Location", "identifier", locations.list, Schema.is(LocationId)),
    groups: lookup("Group", "name", groups.list, Schema.is(GroupId)),
    products: lookup("Product", "identifier", products.list, Schema.is(ProductId), { mayAppear: true })
  }
  const names: { readonly [K in Kind]: (uuid: Ids[K]) => Effect.Effect<string, Failure> } = {
    users: reverse((uuid) => Effect.map(users.get({ params: { uuid }, query: {} }), ({ username }) => username)),
    locations: reverse((uuid) =>
      Effect.map(locations.get({ params: { uuid }, query: {} }), ({ identifier }) => identifier)
    ),
    groups: reverse((uuid) => Effect.map(groups.get({ params: { uuid }, query: {} }), ({ name }) => name)),
    products: reverse((uuid) =>
      Effect.map(products.get({ params: { uuid }, query: {} }), ({ identifier }) => identifier)
    )
  }
  return {
    /** The uuid of the record with the name; a uuid is returned unchanged. Fails when no record has the name. */
    uuidOf: <K extends Kind>(kind: K, name: string) => uuids[kind](name),
    /** The name of the record with the uuid. */
    nameOf: <K extends Kind>(kind: K, uuid: Ids[K]) => names[kind](uuid)
  }
}

export type Names = ReturnType<typeof make>
