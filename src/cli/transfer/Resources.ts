import { Effect, Schema } from "effect"
import type { Client } from "../../client/Client.ts"
import { Group, GroupCreate, GroupId } from "../../domain/people/Group.ts"
import { Location, LocationCreate, LocationId } from "../../domain/locations/Location.ts"
import { User, UserCreate } from "../../domain/people/User.ts"
import { UserId } from "../../domain/schema/UserId.ts"
import { allowed } from "./DryRun.ts"
import { posts } from "./Posts.ts"
import { products } from "./Products.ts"
import type { Resource } from "./Resource.ts"
import * as Relations from "./Relations.ts"

/** Checks the types of a definition; import and export treat every resource alike. */
const resource = <Record, Create>(definition: Resource<Record, Create>): Resource => definition

/** The record of a file with uuids in the place of the names of its members. */
const withMembers = (client: Client["Service"]) => {
  const relations = Relations.make(client)
  return ({ groups, locations, users, ...record }: Parameters<typeof relations.resolve>[0]) =>
    Effect.map(relations.resolve({ groups, locations, users }), (members) => ({ ...record, ...members }))
}

export const locations = resource({
  name: "locations",
  record: Location,
  create: LocationCreate,
  key: "identifier",
  isPlanned: true,
  duplicate: "DuplicateIdentifierError",
  calls: ({ locations }) => ({
    list: (query) => locations.list({ query }),
    create: (payload) => locations.create({ payload }),
    update: (uuid, payload) => locations.update({ params: { uuid: LocationId.make(uuid) }, payload })
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
  foldsKey: true,
  toApi: withMembers,
  duplicate: "UsernameNotUniqueError",
  calls: (client) => {
    const relations = Relations.make(client)
    return {
      list: (query) =>
        Relations.enrich(client.users.list({ query }), (user) =>
          Effect.map(relations.locationsOfUser(user.uuid), (locations) => ({ ...user, locations }))
        ),
      create: ({ groups, locations, ...user }) =>
        Effect.flatMap(relations.resolve({ groups, locations }), (members) =>
          client.users.create({ payload: { ...user, ...members } })
        ),
      update: (uuid, { groups, locations, ...user }) =>
        Effect.gen(function* () {
          const params = { uuid: UserId.make(uuid) }
          const members = yield* relations.resolve({ groups, locations })
          yield* allowed(client.users.update({ params, payload: user }))
          if (members.locations)
            yield* allowed(client.users.updateLocations({ params, payload: { locations: members.locations } }))
          if (members.groups) yield* allowed(client.users.updateGroups({ params, payload: { groups: members.groups } }))
        })
    }
  }
})

export const groups = resource({
  name: "groups",
  toApi: withMembers,
  record: Schema.Struct({ ...Group.fields, users: Relations.names, locations: Relations.names }),
  create: Schema.Struct({
    ...GroupCreate.fields,
    users: Schema.optionalKey(Relations.names),
    locations: Schema.optionalKey(Relations.names)
  }),
  key: "name",
  foldsKey: true,
  duplicate: "DuplicateGroupNameError",
  calls: (client) => {
    const relations = Relations.make(client)
    return {
      list: (query) =>
        Relations.enrich(client.groups.list({ query }), (group) =>
          Effect.gen(function* () {
            const users = yield* relations.usersOf(group.uuid)
            return { ...group, users, locations: yield* relations.locationsOfGroup(group.uuid) }
          })
        ),
      create: ({ locations, users, ...group }) =>
        Effect.flatMap(relations.resolve({ locations, users }), (members) =>
          client.groups.create({ payload: { ...group, ...members } })
        ),
      update: (uuid, { locations, users, ...group }) =>
        Effect.flatMap(relations.resolve({ locations, users }), (members) =>
          client.groups.update({ params: { uuid: GroupId.make(uuid) }, payload: { ...group, ...members } })
        )
    }
  }
})

/** Every resource that can be imported and exported, in the order of their dependencies. */
export const resources: ReadonlyArray<Resource> = [locations, users, groups, resource(products), resource(posts)]
