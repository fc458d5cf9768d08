import { Cache, Duration, Effect, Exit, Schema } from "effect"
import { memberOf } from "../../domain/schema/Json.ts"
import type { Client } from "../../client/Client.ts"
import { GroupId } from "../../domain/people/Group.ts"
import { LocationId } from "../../domain/locations/Location.ts"
import { type Condition, maxValues } from "../../domain/query/FilterConditions.ts"
import { quote } from "../../domain/query/FilterSyntax.ts"
import { ProductId } from "../../domain/catalog/ProductId.ts"
import { UserId } from "../../domain/people/UserId.ts"
import { type Failure, retriedWhileBusy } from "../Failures.ts"

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
export type NamedKind = keyof Ids

export const isNamedKind = (kind: unknown): kind is NamedKind =>
  kind === "users" || kind === "locations" || kind === "groups" || kind === "products"

interface Search {
  readonly query: { readonly limit: number; readonly filter: ReadonlyArray<Condition> }
}

interface Found<Id> {
  readonly data: ReadonlyArray<{ readonly uuid: Id }>
}

const capacity = 100_000

/** How many bytes the names of a request have in its address, for the limit of a query. */
const maxBytes = 5500

/** Longer than any name. */
export const maxName = 255

/** The bytes of a name in the address of a request. */
const bytesOf = (name: string) => new URLSearchParams([["", `|${quote(name)}`]]).toString().length

/** Names for one request each. */
const batchesOf = (names: ReadonlyArray<string>) => {
  const batches: Array<Array<string>> = []
  let bytes = maxBytes
  for (const name of names) {
    const own = bytesOf(name)
    if (bytes + own > maxBytes || batches.at(-1)!.length === maxValues) {
      batches.push([])
      bytes = 0
    }
    batches.at(-1)!.push(name)
    bytes += own
  }
  return batches
}

/** The names of a kind of record: how messages call it, and the member that has them. */
const named = {
  users: ["User", "username"],
  locations: ["Location", "identifier"],
  groups: ["Group", "name"],
  products: ["Product", "identifier"]
} as const

/** Why a row is refused whose name no record has. */
export const unknown = (kind: NamedKind, name: string) => ({
  code: `${named[kind][0]}NotFoundError`,
  message: `No ${named[kind][0].toLowerCase()} has the ${named[kind][1]} "${name}"`,
  reference: name
})

/** Looks up each name once. With `mayAppear`, unknown names are looked up again, because a later row may create them. */
const lookup = <Id extends string>(
  kind: NamedKind,
  list: (request: Search) => Effect.Effect<Found<Id>, Failure>,
  isId: (text: string) => text is Id,
  { mayAppear } = { mayAppear: false }
) => {
  const [, field] = named[kind]
  const missing = (name: string): MissingReference => {
    const { code, message, reference } = unknown(kind, name)
    return { _tag: code, message, reference }
  }
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
  const known = new Map<string, Id>()
  const find = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
    const { data } = yield* retriedWhileBusy(
      list({ query: { limit: maxValues, filter: [{ field, operator: "in", value: names }] } })
    )
    for (const record of data) known.set(String(memberOf(record, field)), record.uuid)
  })
  return {
    one: (name: string) =>
      Effect.flatMap(Cache.get(cache, name), (uuid) =>
        uuid === undefined ? Effect.fail(missing(name)) : Effect.succeed(uuid)
      ),
    many: Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
      if (known.size > capacity) known.clear()
      const sought = names.filter((name) => !known.has(name) && name.length <= maxName)
      yield* Effect.forEach(batchesOf(sought), find, { concurrency: 4, discard: true })
      return new Map(
        names.flatMap((name) => {
          const id = name.toLowerCase()
          const uuid = known.get(name) ?? (isId(id) ? id : undefined)
          return uuid === undefined ? [] : [[name, uuid] as const]
        })
      )
    })
  }
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
  const uuids: {
    readonly [K in NamedKind]: {
      readonly one: (name: string) => Effect.Effect<Ids[K], Failure>
      readonly many: (names: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, Ids[K]>, Failure>
    }
  } = {
    users: lookup("users", users.list, Schema.is(UserId)),
    locations: lookup("locations", locations.list, Schema.is(LocationId)),
    groups: lookup("groups", groups.list, Schema.is(GroupId)),
    products: lookup("products", products.list, Schema.is(ProductId), { mayAppear: true })
  }
  const names: { readonly [K in NamedKind]: (uuid: Ids[K]) => Effect.Effect<string, Failure> } = {
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
    uuidOf: <K extends NamedKind>(kind: K, name: string) => uuids[kind].one(name),
    /** The uuids of the records with the names, of those that exist, with a request for up to a hundred names. */
    uuidsOf: (kind: NamedKind, names: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, string>, Failure> =>
      uuids[kind].many(names),
    /** The name of the record with the uuid. */
    nameOf: <K extends NamedKind>(kind: K, uuid: Ids[K]) => names[kind](uuid)
  }
}

export type Names = ReturnType<typeof make>
