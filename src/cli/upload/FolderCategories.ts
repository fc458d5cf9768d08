import { Effect } from "effect"
import { Client } from "../../client/Client.ts"
import type { AssetCategory, AssetCategoryId } from "../../domain/assets/AssetCategory.ts"
import { slugOf } from "../../domain/schema/Slug.ts"
import type { Failure } from "../Failures.ts"
import type { LocalFile } from "./LocalFile.ts"

/** The category of a folder: one that exists, or one to create below `parent`. */
export interface Folder {
  readonly key: string
  readonly name: string
  readonly uuid: AssetCategoryId | undefined
  readonly parent: Folder | undefined
}

/** The category of each file, by its path, and those that do not exist yet, parents first. */
export interface Plan {
  readonly keys: ReadonlyMap<string, string>
  readonly missing: ReadonlyArray<Folder>
}

const maxKey = 64

/** Every category from this page on. */
const every = (page = 1): Effect.Effect<ReadonlyArray<AssetCategory>, Failure, Client> =>
  Effect.gen(function* () {
    const { assetCategories } = yield* Client
    const query = { limit: 500, page, sortBy: "createdAt", sortOrder: "asc" } as const
    const { data, pagination } = yield* assetCategories.list({ query })
    return page < (pagination.pageCount ?? 0) ? [...data, ...(yield* every(page + 1))] : data
  })

const isNamed = ({ key, translations }: AssetCategory, name: string) =>
  key === slugOf(name) || translations.some((translation) => translation.name.toLowerCase() === name.toLowerCase())

/** A key that no category has: the slug of the name, with that of its parent or a number where it is taken. */
const freeKey = (name: string, parent: Folder | undefined, taken: ReadonlySet<string>) => {
  const slug = (slugOf(name) ?? "folder").slice(0, maxKey)
  const nested = parent === undefined ? slug : `${parent.key}-${slug}`.slice(0, maxKey)
  let key = taken.has(slug) ? nested : slug
  for (let number = 2; taken.has(key); number++) key = `${slug.slice(0, maxKey - 6)}-${number}`
  return key
}

/** Finds the category of the folder of each file. A folder in another is a category below that of the other. */
export const plan = Effect.fnUntraced(function* (files: ReadonlyArray<LocalFile>) {
  const existing = yield* every()
  const taken = new Set(existing.map(({ key }) => key))
  const folders = new Map<string, Folder>()
  const missing: Array<Folder> = []

  const folderOf = (names: ReadonlyArray<string>): Folder | undefined => {
    const name = names.at(-1)
    if (name === undefined) return undefined
    const path = names.join("/")
    const known = folders.get(path)
    if (known !== undefined) return known
    const parent = folderOf(names.slice(0, -1))
    const found = existing.find(
      (category) =>
        category.parentUuid === parent?.uuid && (parent === undefined || parent.uuid) && isNamed(category, name)
    )
    const folder: Folder = { key: found?.key ?? freeKey(name, parent, taken), name, uuid: found?.uuid, parent }
    folders.set(path, folder)
    taken.add(folder.key)
    if (found === undefined) missing.push(folder)
    return folder
  }

  const keys = new Map<string, string>()
  for (const file of files) {
    const folder = folderOf(file.folders)
    if (folder !== undefined) keys.set(file.path, folder.key)
  }
  return { keys, missing } satisfies Plan
})

/** No categories, for uploads without them. */
export const none: Plan = { keys: new Map(), missing: [] }

/** Creates the categories that are missing. */
export const create = Effect.fnUntraced(function* ({ missing }: Plan, locale: string) {
  const { assetCategories } = yield* Client
  const created = new Map<string, AssetCategoryId>()
  for (const { key, name, parent } of missing) {
    const parentUuid = parent && (parent.uuid ?? created.get(parent.key))
    const translations = [{ locale, name: Array.from(name).slice(0, 100).join("") }]
    const { uuid } = yield* assetCategories.create({
      payload: { key, translations, ...(parentUuid === undefined ? {} : { parentUuid }) }
    })
    created.set(key, uuid)
  }
})
