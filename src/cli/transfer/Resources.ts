import { Effect, Schema } from "effect"
import { Group, GroupCreate } from "../../domain/people/Group.ts"
import { Location, LocationCreate } from "../../domain/locations/Location.ts"
import { textsOf } from "../../domain/schema/Json.ts"
import { User, UserCreate } from "../../domain/people/User.ts"
import { relationKinds } from "../../domain/write/Relations.ts"
import { posts } from "./Posts.ts"
import { products } from "./Products.ts"
import type { Resource } from "./Resource.ts"
import * as Relations from "./Relations.ts"

/** Checks the types of a definition; import and export treat every resource alike. */
const resource = <Record, Create>(definition: Resource<Record, Create>): Resource => definition

/** A record with uuids in the place of the names of its members. */
const withMembers: NonNullable<Resource["toApi"]> = (record, uuidOf) => {
  const members = relationKinds.flatMap((kind) => {
    const names = record[kind]
    return names === undefined ? [] : [[kind, textsOf(names).map((name) => uuidOf(kind, name))] as const]
  })
  return { ...record, ...Object.fromEntries(members) }
}

export const locations = resource({
  name: "locations",
  record: Location,
  create: LocationCreate,
  key: "identifier",
  createAll:
    ({ locations }) =>
    (records) =>
      Effect.map(
        // The service decodes them: they are as the file has them.
        locations.bulk({ payload: { operations: records.map((data) => ({ op: "create", data: data as never })) } }),
        ({ data }) => data.map(({ status }) => status === 201)
      ),
  list:
    ({ locations }) =>
    (query) =>
      locations.list({ query })
})

const users = resource({
  name: "users",
  record: Schema.Struct({ ...User.fields, locations: Relations.names }),
  listed: User,
  create: Schema.Struct({
    ...UserCreate.fields,
    locations: Relations.optionalNames,
    groups: Relations.optionalNames
  }),
  key: "username",
  foldsKey: true,
  toApi: withMembers,
  list: (client) => {
    const relations = Relations.make(client)
    return (query) =>
      Relations.enrich(client.users.list({ query }), {
        extend: (user) => Effect.map(relations.locationsOfUser(user.uuid), (locations) => ({ ...user, locations })),
        read: ({ uuid }) => client.users.get({ params: { uuid }, query: {} })
      })
  }
})

export const groups = resource({
  name: "groups",
  record: Schema.Struct({ ...Group.fields, users: Relations.names, locations: Relations.names }),
  listed: Group,
  create: Schema.Struct({
    ...GroupCreate.fields,
    users: Relations.optionalNames,
    locations: Relations.optionalNames
  }),
  key: "name",
  foldsKey: true,
  toApi: withMembers,
  list: (client) => {
    const relations = Relations.make(client)
    return (query) =>
      Relations.enrich(client.groups.list({ query }), {
        extend: (group) =>
          Effect.gen(function* () {
            const users = yield* relations.usersOf(group.uuid)
            return { ...group, users, locations: yield* relations.locationsOfGroup(group.uuid) }
          }),
        read: ({ uuid }) => client.groups.get({ params: { uuid }, query: {} })
      })
  }
})

/** Every resource that can be imported and exported, in the order of their dependencies. */
export const resources: ReadonlyArray<Resource> = [locations, users, groups, resource(products), resource(posts)]
