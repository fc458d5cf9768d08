import type { Kind } from "./Commands.ts"
import type { Json, State } from "./State.ts"

const nameOf = ({ firstName, username }: Json) => firstName ?? username

const listed = (state: State, kind: "groups" | "locations", named: ReadonlyArray<Json>) =>
  named.flatMap(({ uuid }) => {
    const record = state.records[kind].get(uuid)
    if (record === undefined) return []
    return [
      kind === "groups"
        ? { uuid, name: record["name"] }
        : { uuid, name: record["name"], identifier: record["identifier"] }
    ]
  })

/** The product whose module applies to a product, if one is active. */
export const moduleOwner = (state: State, uuid: string, module: "locations" | "stock"): string | undefined => {
  const { parentUuid, type } = state.records.products.get(uuid)!
  const owner = module === "locations" && type === "variant" ? parentUuid : uuid
  return state.modules.has(`${owner} ${module}`) ? owner : undefined
}

/** Whether a product of a type supports a module, and whether it can have its own. */
export const supports = (type: string, module: "locations" | "stock") =>
  module === "locations" || type !== "variantParent"
export const owns = (type: string, module: "locations" | "stock") =>
  module === "locations" ? type !== "variant" : type !== "variantParent"

const modulesOf = (state: State, uuid: string, type: string) =>
  (["locations", "stock"] as const)
    .filter((module) => supports(type, module))
    .map((module) => {
      const owner = moduleOwner(state, uuid, module)
      return { module, active: owner !== undefined, inherited: owner !== undefined && owner !== uuid }
    })

/** The record as the service returns it. */
const shownAs: Readonly<Record<Kind, (state: State, uuid: string, record: Json) => Json>> = {
  locations: (state, uuid, record) => {
    const media = state.media.get(uuid) ?? []
    const item = ({ assetUuid, position, role }: Json) => ({ assetUuid, position, role, labels: [] })
    const logo = media.find(({ isLogo }) => isLogo)
    return {
      ...record,
      media: {
        items: media.filter(({ isLogo }) => isLogo !== true).map(item),
        ...(logo === undefined ? {} : { logo: item(logo) })
      },
      translationLabels: []
    }
  },
  users: (_state, _uuid, record) => record,
  groups: (state, uuid, { locations: _l, users: _u, ...record }) => ({
    ...record,
    userCount: state.members("groups", uuid, "users").length,
    locationCount: state.members("groups", uuid, "locations").length
  }),
  products: (state, uuid, record) => ({
    ...record,
    modules: modulesOf(state, uuid, record["type"]),
    ...(record["type"] === "variantParent"
      ? { variantCount: [...state.records.products.values()].filter(({ parentUuid }) => parentUuid === uuid).length }
      : {})
  }),
  posts: (state, _uuid, { author, coverAssetUuid, ...record }) => {
    const user = state.records.users.get(author?.uuid)
    return {
      ...record,
      ...(user === undefined ? {} : { author: { uuid: author.uuid, name: nameOf(user) } }),
      ...(state.has("assets", coverAssetUuid) ? { coverAssetUuid } : {}),
      mediaAssetUuids: record["mediaAssetUuids"].filter((asset: string) => state.has("assets", asset)),
      audience: {
        authorizationType: record["audience"].authorizationType,
        groups: listed(state, "groups", record["audience"].groups),
        locations: listed(state, "locations", record["audience"].locations)
      }
    }
  },
  assets: (state, _uuid, { fileUuid, ...record }) => {
    const { name, size } = state.files.get(fileUuid)!
    return { ...record, fileNameOriginal: name, fileSize: size, fileExtension: name.split(".").at(-1)!.toLowerCase() }
  }
}

export const shown = (state: State, kind: Kind, uuid: string): Json => ({
  uuid,
  ...shownAs[kind](state, uuid, state.records[kind].get(uuid)!)
})

/** The locations module as the service returns it, with its own count of qualifying locations. */
export const shownLocations = (state: State, settings: Json): Json => {
  const locations = listed(state, "locations", settings["locations"])
  const groups = listed(state, "groups", settings["groups"])
  const selected = new Set([
    ...locations.map(({ uuid }) => uuid),
    ...groups.flatMap(({ uuid }) => state.members("groups", uuid, "locations"))
  ])
  const all = state.records.locations.size
  const resolvedCount = { all, include: selected.size, exclude: all - selected.size }[settings["mode"] as "all"]
  return { mode: settings["mode"], locations, groups, resolvedCount }
}

/** Members that the model does not know: URLs and times. */
const unmodelled = new Set(["urls", "thumbnailUrl", "createdAt", "editedAt", "publishedAt"])

const without = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(without)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([member]) => !unmodelled.has(member))
      .map(([member, inner]) => [member, without(inner)])
  )
}

/** A response reduced to the members that the model knows. */
export const comparable = (kind: Kind, answer: Json): Json => {
  const plain = without(answer) as Json
  if (kind === "products")
    return {
      ...plain,
      modules: plain["modules"].filter(({ module }: Json) => module === "locations" || module === "stock")
    }
  if (kind !== "locations") return plain
  const item = ({ assetUuid, labels, position, role }: Json) => ({ assetUuid, labels, position, role })
  const { items, logo } = plain["media"]
  return { ...plain, media: { items: items.map(item), ...(logo === undefined ? {} : { logo: item(logo) }) } }
}
