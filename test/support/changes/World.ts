import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import { type Random, pick } from "../Random.ts"
import { fileRow } from "../requests/AssetRequests.ts"
import { eventually } from "../Until.ts"
import { minimalSettings } from "../requests/ProductRequests.ts"
import { send } from "../requests/Requests.ts"

/** The resources whose records have a past. */
export const resources = [
  "users",
  "locations",
  "groups",
  "asset-categories",
  "meta-tags",
  "assets",
  "products",
  "posts"
] as const
export type Resource = (typeof resources)[number]

type Fields = Readonly<Record<string, unknown>>

/** What a read of each resource asks for. */
export const queries: Readonly<Record<Resource, string>> = {
  users: "",
  locations: "",
  groups: "",
  "asset-categories": "",
  "meta-tags": "",
  assets: "include=categories,metaTags,mimeType,validFrom,focalPoint",
  products: "",
  posts: ""
}

export const pathOf = (resource: Resource, uuid: string) => `/v1/${resource}/${uuid}`

/** Reads a record with everything that its answer can have. */
export const read = (resource: Resource, uuid: string, more = "") =>
  send("GET", `${pathOf(resource, uuid)}?${[queries[resource], more].filter((part) => part !== "").join("&")}`)

/** An answer without the addresses, which are not historical. */
export const withoutAddresses = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutAddresses)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== "urls" && name !== "thumbnailUrl")
      .map(([name, inner]) => [name, withoutAddresses(inner)])
  )
}

const relations: Partial<Readonly<Record<Resource, ReadonlyArray<string>>>> = {
  users: ["groups", "locations"],
  groups: ["users", "locations"],
  locations: ["users", "groups"]
}

const modules = ["api", "files", "price", "permissions", "variants", "stock", "internal-comment", "workflow"]

/** Everything that belongs to a record, without addresses and the times of its writes. */
export const whole = Effect.fnUntraced(function* (resource: Resource, uuid: string) {
  const answer = yield* read(resource, uuid)
  const more = [
    ...(relations[resource] ?? []).map((member) => `${member}?limit=500&sortBy=createdAt`),
    ...(resource === "products" ? modules.map((name) => `modules/${name}`) : [])
  ]
  const parts = yield* Effect.forEach(more, (part) => send("GET", `${pathOf(resource, uuid)}/${part}`))
  const bodies = [answer, ...parts].map(({ body }) => body.data ?? body._tag)
  return bodies.map((body) => {
    const shown = withoutAddresses(body)
    if (typeof shown !== "object" || shown === null || Array.isArray(shown)) return shown
    const { editedAt: _, ...rest } = shown as Record<string, unknown>
    return rest
  })
})

/** The time of the database, more than a millisecond away from every write. */
export const moment = Effect.flatMap(Sql, ({ pooled }) =>
  Effect.map(
    pooled<{ readonly at: string }>`
      with before as materialized (select pg_sleep(0.003)), now as materialized (
        select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from before
      ) select at, pg_sleep(0.003) from now`,
    ([row]) => row!.at
  )
)

/** Gives positions to the changes that were committed. The service may do so at the same time. */
export const seal = Effect.flatMap(Sql, ({ pooled }) =>
  eventually(
    "all changes have a position",
    Effect.andThen(
      pooled`select waypost_seal()`,
      pooled<{ readonly left: boolean }>`select exists (select from pending_changes) as left`
    ),
    ([row]) => !row!.left
  )
)

/**
 * A client that writes at random to all resources, so that the records refer to each other. Requests that break a rule are
 * rejected; `step` returns what the service answered.
 */
export const worldOf = (random: Random, prefix: string) => {
  const uuids: Record<Resource, Array<string>> = {
    users: [],
    locations: [],
    groups: [],
    "asset-categories": [],
    "meta-tags": [],
    assets: [],
    products: [],
    posts: []
  }
  let count = 0
  const word = () => `${prefix}${++count}`
  const maybe = (chance = 0.5) => random() < chance
  const one = (resource: Resource) => (uuids[resource].length === 0 ? undefined : pick(random, uuids[resource]))
  const some = (resource: Resource, most = 4) => [
    ...new Set(
      Array.from({ length: Math.floor(random() * (most + 1)) }, () => one(resource)).filter(
        (uuid) => uuid !== undefined
      )
    )
  ]
  const named = (resource: Resource) => some(resource).map((uuid) => ({ uuid }))
  const optional = (fields: Fields, chance = 0.4): Fields =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && maybe(chance)))
  const translations = (member: string) =>
    ["de", "en", "nl"].filter(() => maybe()).map((locale) => ({ locale, [member]: word() }))

  const fieldsOf: Readonly<Record<Resource, (isNew: boolean) => Effect.Effect<Fields, unknown, Sql>>> = {
    users: () =>
      Effect.sync(() => ({
        ...optional({
          username: word(),
          firstName: word(),
          lastName: word(),
          phone: "+31 30",
          status: pick(random, ["active", "suspended"])
        }),
        ...(maybe(0.2) ? { lastName: null } : {})
      })),
    locations: () =>
      Effect.sync(() =>
        optional({
          name: word(),
          postalCodes: [word().toUpperCase().slice(0, 8)],
          address: { city: word(), ...(maybe() ? { zipcode: null } : { zipcode: "3500" }) },
          contact: pick(random, [null, { phone: "+31 30" }, { email: "a@example.com" }]),
          coordinates: pick(random, [null, { latitude: 1, longitude: 2 }]),
          status: pick(random, [null, "open", "temporarilyClosed"]),
          specialHours: pick(random, [null, []]),
          ...pick<Fields>(random, [
            { timezone: null, openingHours: null, specialHours: null },
            {
              timezone: "Europe/Amsterdam",
              openingHours: [{ day: 1 + (count % 7), opens: "09:00", closes: pick(random, ["17:00", "02:00"]) }],
              specialHours: pick(random, [null, [{ date: "2026-12-25", label: word() }]])
            }
          ]),
          other: { extraDna3: word() }
        })
      ),
    groups: () =>
      Effect.sync(() =>
        optional({
          name: word(),
          description: pick(random, [null, word()]),
          users: some("users"),
          locations: some("locations")
        })
      ),
    "asset-categories": () =>
      Effect.sync(() =>
        optional({
          key: word(),
          position: count % 5,
          parentUuid: pick(random, [null, one("asset-categories")]),
          translations: translations("name")
        })
      ),
    "meta-tags": () =>
      Effect.sync(() =>
        optional({
          position: count % 5,
          categories: some("asset-categories", 2),
          translations: translations("name"),
          group: pick(random, [null, { key: "main", translations: [], position: 0 }])
        })
      ),
    assets: (isNew) =>
      Effect.gen(function* () {
        const fileUuid =
          isNew || maybe(0.2)
            ? yield* fileRow(`${word()}.txt`, 1, pick(random, ["text/plain", "image/png", "video/mp4"]))
            : undefined
        return {
          ...optional({
            categories: some("asset-categories", 3),
            validFrom: pick(random, [null, "2026-01-01T00:00:00.000Z"]),
            focalPoint: pick(random, [null, { x: 0.5, y: 0.25 }])
          }),
          ...optional({
            translations: maybe()
              ? [{ locale: "nl", name: word() }]
              : [
                  { locale: "en", name: null },
                  { locale: "de", name: word() }
                ]
          }),
          ...(fileUuid === undefined ? {} : { fileUuid })
        }
      }),
    products: () =>
      Effect.sync(() =>
        optional({
          name: word(),
          description: pick(random, [null, word()]),
          tags: [word()],
          categories: [word()],
          position: count % 7,
          status: pick(random, ["draft", "published", "archived"]),
          translations: translations("name")
        })
      ),
    posts: () =>
      Effect.sync(() => {
        const author = one("users")
        return optional({
          status: pick(random, ["draft", "scheduled"]),
          publishAt: "2040-01-01T00:00:00.000Z",
          translations: [
            { locale: "en", title: word(), body: `<p>${word()}</p>` },
            ...translations("title").filter(({ locale }) => locale !== "en")
          ],
          author: author === undefined ? null : { uuid: author },
          audience: {
            authorizationType: pick(random, ["everyone", "groups", "locations"]),
            groups: named("groups"),
            locations: named("locations")
          },
          coverAssetUuid: one("assets") ?? null,
          mediaAssetUuids: some("assets"),
          tags: [word()],
          pinned: maybe()
        })
      })
  }

  const requiredOf = (resource: Resource): Fields => {
    const name = word()
    switch (resource) {
      case "users":
        return {
          username: name,
          email: `${name}@example.com`,
          ...optional({ groups: some("groups"), locations: some("locations") })
        }
      case "locations":
        return { name, identifier: name }
      case "groups":
        return { name }
      case "asset-categories":
        return { key: name }
      case "meta-tags":
        return maybe()
          ? { key: name, type: "text" }
          : {
              key: name,
              type: "select",
              options: [{ key: "a", translations: [{ locale: "en", label: word() }] }, { key: "b" }]
            }
      case "assets":
        return {}
      case "products": {
        const parentUuid = one("products")
        const type = pick(random, ["default", "variantParent", "variantParent", "variant", "variant"])
        return type === "variant" && parentUuid !== undefined
          ? { type, name, identifier: name, parentUuid, optionValues: [{ option: "size", value: name }] }
          : { type: type === "variant" ? "variantParent" : type, name, identifier: name }
      }
      case "posts":
        return { type: "news", translations: [{ locale: "en", title: name }] }
    }
  }

  const create = Effect.fnUntraced(function* (resource: Resource) {
    const fields = yield* fieldsOf[resource](true)
    const body = { ...fields, ...requiredOf(resource) }
    const answer = yield* send("POST", `/v1/${resource}`, { body })
    if (answer.status === 201) uuids[resource].push(answer.body.data.uuid)
    return answer
  })

  const update = Effect.fnUntraced(function* (resource: Resource, uuid: string) {
    return yield* send("PATCH", pathOf(resource, uuid), { body: yield* fieldsOf[resource](false) })
  })

  const remove = Effect.fnUntraced(function* (resource: Resource, uuid: string) {
    const answer = yield* send("DELETE", `${pathOf(resource, uuid)}${resource === "assets" ? "?force=true" : ""}`)
    return answer
  })

  const relate = (owner: Resource, members: ReadonlyArray<Resource>) => (uuid: string) => {
    const member = pick(random, members)
    return send("PUT", `${pathOf(owner, uuid)}/${member}`, { body: { [member]: some(member) } })
  }
  const moduleSettings = (name: string): Fields => {
    switch (name) {
      case "files":
        return { files: some("assets", 2).map((assetUuid) => ({ assetUuid, role: "preview" })) }
      case "permissions":
        return { groups: some("groups", 2).map((uuid) => ({ uuid, actions: ["view"] })) }
      case "variants":
        return { ...minimalSettings["variants"], ...optional({ defaultVariantUuid: one("products") }) }
      case "internal-comment":
        return { comment: word(), visibility: "managers" }
      default:
        return { ...minimalSettings[name], ...(name === "price" ? { costCenterRequired: maybe() } : {}) }
    }
  }
  /** A write of a part of a record: relations, modules, media, values. */
  const partOf = (resource: Resource, uuid: string) => {
    const path = pathOf(resource, uuid)
    switch (resource) {
      case "users":
        return relate("users", ["groups", "locations"])(uuid)
      case "groups":
        return relate("groups", ["users", "locations"])(uuid)
      case "locations":
        if (maybe(0.3)) return relate("locations", ["users", "groups"])(uuid)
        return maybe(0.3)
          ? send("PUT", `${path}/translation-labels`, {
              body: { translationLabels: [{ key: "other.extraDna3", locale: "en", label: word() }] }
            })
          : send("PUT", `${path}/media`, {
              body: {
                ...optional({ logo: one("assets") === undefined ? undefined : { assetUuid: one("assets") } }),
                items: some("assets").map((assetUuid) => ({ assetUuid, role: "team" }))
              }
            })
      case "assets": {
        const definition = one("meta-tags")
        const body = {
          metaTags:
            definition === undefined ? [] : [{ uuid: definition, value: pick(random, [null, "a", "b", word()]) }]
        }
        return send("PATCH", `${path}/meta-tags`, { body })
      }
      case "products": {
        const name = pick(random, [
          "api",
          "files",
          "price",
          "permissions",
          "variants",
          "stock",
          "internal-comment",
          "workflow"
        ])
        if (maybe(0.25)) return send("DELETE", `${path}/modules/${name}`)
        return maybe(0.15)
          ? send("POST", `${path}/modules/api/calls`, { body: { status: "ok", httpStatus: 200 } })
          : send("PUT", `${path}/modules/${name}`, { body: moduleSettings(name) })
      }
      default:
        return update(resource, uuid)
    }
  }

  /** One request at random. */
  const step = Effect.fnUntraced(function* () {
    const resource = pick(random, resources)
    const uuid = one(resource)
    const chance = random()
    if (uuid === undefined || chance < 0.25) return yield* create(resource)
    if (chance < 0.55) return yield* update(resource, uuid)
    return chance < 0.9 ? yield* partOf(resource, uuid) : yield* remove(resource, uuid)
  })

  return { create, remove, step, update, uuids, partOf }
}
