import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Sql } from "../../../src/sql/Sql.ts"
import { pick, type Random } from "../Random.ts"
import {
  type Action,
  actions,
  type Given,
  type Location,
  type Post,
  type Product,
  type User,
  type World
} from "./Model.ts"

const day = 86_400_000

export interface Sizes {
  readonly groups: number
  readonly locations: number
  readonly users: number
  readonly products: number
  readonly posts: number
}

/** A world of records that belong to each other, and are given, at random. */
export const randomWorld = (random: Random, sizes: Sizes): World => {
  const now = Date.now()
  const times = <A>(count: number, make: (index: number) => A) =>
    Array.from({ length: count }, (_, index) => make(index))
  const some = <A>(list: ReadonlyArray<A>, chance: number) => list.filter(() => random() < chance)
  const sometimes = <A>(chance: number, make: () => A): A | undefined => (random() < chance ? make() : undefined)
  const period = () => ({
    from: pick(random, [null, null, now - 2 * day, now - day, now + day]),
    until: pick(random, [null, null, now + 2 * day, now + 3 * day, now - day / 2])
  })
  const inOrder = ({ from, until }: ReturnType<typeof period>) =>
    from !== null && until !== null && until <= from ? { from, until: null } : { from, until }

  const groups = times(sizes.groups, () => randomUUID())
  const locations = times(sizes.locations, (): Location => ({ uuid: randomUUID(), groups: some(groups, 0.2) }))
  const places = locations.map(({ uuid }) => uuid)
  const users = times(sizes.users, (): User => ({
    uuid: randomUUID(),
    status: pick(random, ["active", "active", "active", "active", "pending", "suspended"]),
    groups: some(groups, 0.25),
    locations: some(places, 0.2)
  }))

  const given = (): Given => {
    const entries = (uuids: ReadonlyArray<string>) =>
      some(uuids, 0.3).map((uuid) => ({ uuid, actions: some<Action>(actions, 0.6) }))
    return {
      authorizationType: pick(random, ["everyone", "groups", "groups", "locations", "locations"]),
      groups: entries(groups),
      locations: entries(places)
    }
  }
  const locationsModule = () => ({
    mode: pick(random, ["all", "include", "exclude"] as const),
    locations: some(places, 0.3),
    groups: some(groups, 0.2)
  })
  const campaigns = () => ({
    onlyDuringCampaign: random() < 0.7,
    campaigns: times(Math.floor(random() * 3), () => ({
      status: pick(random, ["draft", "scheduled", "active", "active", "closed"]),
      from: pick(random, [now - 2 * day, now - day, now + day]),
      until: pick(random, [now + 2 * day, now + 3 * day, now - day / 2])
    })).filter(({ from, until }) => from < until)
  })
  const product = (parent: string | null, isParent: boolean): Product => {
    const [permissions, where, campaign] = [
      sometimes(0.9, given),
      sometimes(0.5, locationsModule),
      sometimes(0.5, campaigns)
    ]
    return {
      uuid: randomUUID(),
      type: parent === null ? (isParent ? "variantParent" : "default") : "variant",
      parent,
      status: pick(random, ["published", "published", "published", "published", "draft", "archived"]),
      ...inOrder(period()),
      ...(parent !== null || permissions === undefined ? {} : { permissions }),
      ...(parent !== null || where === undefined ? {} : { locations: where }),
      ...(parent !== null || campaign === undefined ? {} : { campaigns: campaign })
    }
  }
  const products = times(sizes.products, () => random() < 0.3).flatMap((isParent) => {
    const own = product(null, isParent)
    return [own, ...(isParent ? times(Math.floor(random() * 4), () => product(own.uuid, false)) : [])]
  })
  const posts = times(sizes.posts, (): Post => {
    const status = pick(random, ["published", "published", "published", "draft", "archived"] as const)
    const dates = inOrder(period())
    // The service archives a published post that expires.
    const isExpired = status === "published" && dates.until !== null && dates.until <= now
    return { uuid: randomUUID(), status: isExpired ? "archived" : status, ...dates, audience: given() }
  })
  return { now, groups, locations, users, products, posts }
}

const time = (at: number | null) => (at === null ? null : new Date(at).toISOString())

/** Stores the world, in place of all records of the same tables. */
export const store = Effect.fnUntraced(function* (world: World) {
  const { pooled } = yield* Sql
  const insert = (table: string, columns: string, rows: ReadonlyArray<object>) =>
    pooled.unsafe(
      `insert into ${table} (${columns}) select ${columns} from jsonb_populate_recordset(null::${table}, $1::text::jsonb)`,
      [JSON.stringify(rows)]
    )
  for (const table of ["posts", "products where parent_uuid is not null", "products", "users", "locations", "groups"])
    yield* pooled.unsafe(`delete from ${table}`)
  yield* insert(
    "groups",
    "uuid, name, created_at, edited_at, user_count, location_count, user_set, location_set",
    world.groups.map((uuid) => ({ uuid, name: `Group ${uuid}`, ...stamps, ...noMembers }))
  )
  yield* insert(
    "locations",
    "uuid, name, identifier, created_at, edited_at",
    world.locations.map(({ uuid }) => ({ uuid, name: `Branch ${uuid}`, identifier: uuid, ...stamps }))
  )
  yield* insert(
    "users",
    "uuid, username, email, status, role, language_code, created_at, edited_at",
    world.users.map(({ status, uuid }) => ({
      uuid,
      username: uuid,
      email: `${uuid}@example.com`,
      status,
      role: "ROLE_USER",
      language_code: "en",
      ...stamps
    }))
  )
  const pairs = (
    list: ReadonlyArray<{ readonly uuid: string }>,
    own: string,
    of: string,
    key: "groups" | "locations"
  ) => list.flatMap((one) => ((one as Partial<User>)[key] ?? []).map((uuid) => ({ [own]: one.uuid, [of]: uuid })))
  yield* insert(
    "group_locations",
    "group_uuid, location_uuid",
    pairs(world.locations, "location_uuid", "group_uuid", "groups")
  )
  yield* insert("user_groups", "user_uuid, group_uuid", pairs(world.users, "user_uuid", "group_uuid", "groups"))
  yield* insert(
    "user_locations",
    "user_uuid, location_uuid",
    pairs(world.users, "user_uuid", "location_uuid", "locations")
  )
  yield* insert(
    "products",
    "uuid, type, identifier, name, translations, status, categories, tags, visible_from, visible_until, position, parent_uuid, option_values, created_at, edited_at",
    world.products.map(({ from, parent, status, type, until, uuid }) => ({
      uuid,
      type,
      identifier: uuid,
      name: `Product ${uuid}`,
      translations: [],
      status,
      categories: [],
      tags: [],
      visible_from: time(from),
      visible_until: time(until),
      position: 0,
      parent_uuid: parent,
      option_values: parent === null ? null : [{ option: "size", value: uuid }],
      ...stamps
    }))
  )
  yield* insert(
    "product_modules",
    "product_uuid, module, settings, edited_at",
    world.products.flatMap((product) => modulesOf(product))
  )
  // A new post is a draft; its states follow each other.
  yield* insert(
    "posts",
    "uuid, slug, type, status, title, translations, audience, pinned, publish_at, expire_at, media_asset_uuids, categories, tags, created_at, edited_at",
    world.posts.map(({ audience, from, until, uuid }) => ({
      uuid,
      slug: uuid,
      type: "news",
      status: "draft",
      title: "",
      translations: [{ locale: "en", title: `Post ${uuid}` }],
      audience: {
        ...audience,
        groups: audience.groups.map((group) => ({ uuid: group.uuid })),
        locations: audience.locations.map((location) => ({ uuid: location.uuid }))
      },
      pinned: false,
      publish_at: time(from),
      expire_at: time(until),
      media_asset_uuids: [],
      categories: [],
      tags: [],
      ...stamps
    }))
  )
  yield* pooled.unsafe("alter table posts disable trigger status_moves")
  const statuses = JSON.stringify(world.posts.map(({ status, uuid }) => ({ uuid, status })))
  yield* pooled`update posts set status = w.status from jsonb_to_recordset(${statuses}::text::jsonb) w (uuid uuid, status text)
    where posts.uuid = w.uuid`
  yield* pooled.unsafe("alter table posts enable trigger status_moves")
  yield* pooled.unsafe("analyze")
})

const stamps = { created_at: "2026-01-31T09:30:00.000Z", edited_at: "2026-01-31T09:30:00.000Z" }
const noMembers = { user_count: 0, location_count: 0, user_set: 0, location_set: 0 }

const modulesOf = ({ campaigns, locations, permissions, uuid }: Product) =>
  Object.entries({
    permissions,
    locations: locations && {
      ...locations,
      locations: locations.locations.map((location) => ({ uuid: location })),
      groups: locations.groups.map((group) => ({ uuid: group })),
      locationRequired: true,
      multipleLocations: false
    },
    campaigns: campaigns && {
      onlyDuringCampaign: campaigns.onlyDuringCampaign,
      campaigns: campaigns.campaigns.map(({ from, status, until }, index) => ({
        uuid: randomUUID(),
        key: `campaign-${index}`,
        name: `Campaign ${index}`,
        status,
        startsAt: time(from),
        endsAt: time(until),
        participation: "optional"
      }))
    }
  }).flatMap(([module, settings]) =>
    settings === undefined ? [] : [{ product_uuid: uuid, module, settings, edited_at: stamps.edited_at }]
  )
