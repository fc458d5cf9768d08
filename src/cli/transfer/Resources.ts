import { Effect, Schema } from "effect"
import type { Client } from "../../client/Client.ts"
import type { Condition } from "../../domain/query/Filter.ts"
import { Group, GroupCreate, type GroupId, readOnly as groupReadOnly } from "../../domain/people/Group.ts"
import {
  Location,
  LocationCreate,
  type LocationId,
  readOnly as locationReadOnly
} from "../../domain/locations/Location.ts"
import type { Pagination } from "../../domain/query/Pagination.ts"
import { readOnly as userReadOnly, User, UserCreate } from "../../domain/people/User.ts"
import type { UserId } from "../../domain/schema/UserId.ts"
import type { Failure } from "../Failures.ts"
import { posts } from "./Posts.ts"
import { products } from "./Products.ts"
import * as Relations from "./Relations.ts"
import type { Json } from "./Row.ts"

/** What list asks for, as far as this command line asks. */
export interface ListRequest {
  readonly limit: number
  readonly page: number
  readonly sortBy: "createdAt"
  readonly sortOrder: "asc"
  readonly filter?: ReadonlyArray<Condition>
}

interface Page<Record> {
  readonly data: ReadonlyArray<Record>
  readonly pagination: Pagination
}

/** A kind of record that can be imported and exported. */
export interface Resource<Record = unknown, Create = unknown> {
  readonly name: string
  readonly record: Schema.Codec<Record, unknown>
  readonly create: Schema.Codec<Create, unknown>
  /** What people have to know of its files, for the help. */
  readonly note?: string
  /** The member by which a row finds the record it updates; a text that is unique among the records. */
  readonly key: string
  /** The error that says another record has the same key. */
  readonly duplicate: string
  /** The error that says a row names a record which a later row may make. */
  readonly late?: string
  /** Members no client writes. */
  readonly readOnly: ReadonlyArray<string>
  /** Whether an encoded record has all that a row wants; `Rows.covers` unless given. */
  readonly has?: (existing: Json, wanted: Json) => boolean
  /** With `flat`, records are read without what has no place in a table. */
  readonly calls: (
    client: Client["Service"],
    options?: { readonly flat?: boolean }
  ) => {
    readonly list: (query: ListRequest) => Effect.Effect<Page<Record>, Failure>
    readonly create: (payload: Create) => Effect.Effect<unknown, Failure>
    readonly update: (uuid: string, payload: Create) => Effect.Effect<unknown, Failure>
  }
}

/** The types are checked here, once, and forgotten: import and export treat every resource alike. */
const resource = <Record, Create>(definition: Resource<Record, Create>): Resource => definition as unknown as Resource

export const locations = resource({
  name: "locations",
  record: Location,
  create: LocationCreate,
  key: "identifier",
  duplicate: "DuplicateIdentifierError",
  readOnly: locationReadOnly,
  calls: ({ locations }) => ({
    list: (query) => locations.list({ query }),
    create: (payload) => locations.create({ payload }),
    update: (uuid, payload) => locations.update({ params: { uuid: uuid as LocationId }, payload })
  })
})

export const users = resource({
  name: "users",
  record: Schema.Struct({ ...User.fields, locations: Relations.names }),
  create: Schema.Struct({
    ...UserCreate.fields,
    locations: Schema.optionalKey(Relations.names),
    groups: Schema.optionalKey(Relations.names)
  }),
  key: "username",
  duplicate: "UsernameNotUniqueError",
  readOnly: userReadOnly,
  calls: (client) => {
    const relations = Relations.make(client)
    return {
      list: (query) =>
        Relations.enrich(client.users.list({ query }), (user) =>
          Effect.map(relations.locationsOf("users", user.uuid), (locations) => ({ ...user, locations }))
        ),
      create: ({ groups, locations, ...user }) =>
        Effect.flatMap(relations.resolve({ groups, locations }), (members) =>
          client.users.create({ payload: { ...user, ...members } })
        ),
      update: (uuid, { groups, locations, ...user }) =>
        Effect.gen(function* () {
          const params = { uuid: uuid as UserId }
          const members = yield* relations.resolve({ groups, locations })
          yield* client.users.update({ params, payload: user })
          if (members.locations)
            yield* client.users.updateLocations({ params, payload: { locations: members.locations } })
          if (members.groups) yield* client.users.updateGroups({ params, payload: { groups: members.groups } })
        })
    }
  }
})

export const groups = resource({
  name: "groups",
  record: Schema.Struct({ ...Group.fields, users: Relations.names, locations: Relations.names }),
  create: Schema.Struct({
    ...GroupCreate.fields,
    users: Schema.optionalKey(Relations.names),
    locations: Schema.optionalKey(Relations.names)
  }),
  key: "name",
  duplicate: "DuplicateGroupNameError",
  readOnly: groupReadOnly,
  calls: (client) => {
    const relations = Relations.make(client)
    return {
      list: (query) =>
        Relations.enrich(client.groups.list({ query }), (group) =>
          Effect.gen(function* () {
            const users = yield* relations.usersOf(group.uuid)
            return { ...group, users, locations: yield* relations.locationsOf("groups", group.uuid) }
          })
        ),
      create: ({ locations, users, ...group }) =>
        Effect.flatMap(relations.resolve({ locations, users }), (members) =>
          client.groups.create({ payload: { ...group, ...members } })
        ),
      update: (uuid, { locations, users, ...group }) =>
        Effect.flatMap(relations.resolve({ locations, users }), (members) =>
          client.groups.update({ params: { uuid: uuid as GroupId }, payload: { ...group, ...members } })
        )
    }
  }
})

/** Everything that can be imported and exported, in the order in which a whole installation would be. */
export const resources: ReadonlyArray<Resource> = [locations, users, groups, resource(products), resource(posts)]
