import { Effect } from "effect"
import { Client } from "../../client/Client.ts"
import { type AssetCategory, type AssetCategoryId, maxKey } from "../../domain/assets/AssetCategory.ts"
import { maxLimit } from "../../domain/query/PageLimit.ts"
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

/** The name of the category of a folder. */
const nameOf = (folder: string) => Array.from(folder).slice(0, 100).join("").trim()

const keyOf = (name: string) => (slugOf(name) ?? "folder").slice(0, maxKey)

/** Every category from this page on. */
const every = (page = 1): Effect.Effect<ReadonlyArray<AssetCategory>, Failure, Client> =>
  Effect.gen(function* () {
    const { assetCategories } = yield* Client
    const query = { limit: maxLimit, page, sortBy: "createdAt", sortOrder: "asc" } as const
    const { data, pagination } = yield* assetCategories.list({ query })
    return page < (pagination.pageCount ?? 0) ? [...data, ...(yield* every(page + 1))] : data
  })

/** Whether a folder has a category, the surest reason first. */
const matches: ReadonlyArray<(category: AssetCategory, name: string) => boolean> = [
  ({ translations }, name) => translations.some((translation) => translation.name === name),
  ({ translations }, name) => translations.some((translation) => translation.name.toLowerCase() === name.toLowerCase()),
  ({ key }, name) => key === slugOf(name)
]

/** The categories of the folders in one folder, each for one of them. */
const assign = (names: ReadonlyArray<string>, categories: ReadonlyArray<AssetCategory>) => {
  const found = new Map<string, AssetCategory>()
  const left = new Set(categories)
  for (const isOf of matches)
    for (const name of names) {
      const category = found.has(name) ? undefined : [...left].find((one) => isOf(one, nameOf(name)))
      if (category === undefined) continue
      found.set(name, category)
      left.delete(category)
    }
  return found
}

/** A key that no category has: the slug of the name, with that of its parent or a number where it is taken. */
const freeKey = (name: string, parent: Folder | undefined, taken: ReadonlySet<string>) => {
  const slug = keyOf(name)
  const nested = parent === undefined ? slug : `${parent.key}-${slug}`.slice(0, maxKey)
  let key = taken.has(slug) ? nested : slug
  for (let number = 2; taken.has(key); number++) key = `${slug.slice(0, maxKey - 6)}-${number}`
  return key
}

/** The names of the folders in each folder. */
const subfoldersOf = (files: ReadonlyArray<LocalFile>) => {
  const names = new Map<string, Set<string>>()
  for (const { folders } of files)
    for (const [depth, name] of folders.entries()) {
      const path = folders.slice(0, depth).join("/")
      names.set(path, (names.get(path) ?? new Set()).add(name))
    }
  return names
}

/** Finds the category of the folder of each file. A folder in another is a category below that of the other. */
export const plan = Effect.fnUntraced(function* (files: ReadonlyArray<LocalFile>) {
  const existing = yield* every()
  const taken = new Set(existing.map(({ key }) => key))
  const subfolders = subfoldersOf(files)
  const folders = new Map<string, Folder>()
  const missing: Array<Folder> = []

  const visit = (path: ReadonlyArray<string>, parent: Folder | undefined) => {
    const names = [...(subfolders.get(path.join("/")) ?? [])]
    const isNew = parent !== undefined && parent.uuid === undefined
    const found = assign(names, isNew ? [] : existing.filter(({ parentUuid }) => parentUuid === parent?.uuid))
    for (const name of names) {
      const category = found.get(name)
      const key = category?.key ?? freeKey(name, parent, taken)
      const folder: Folder = { key, name: nameOf(name), uuid: category?.uuid, parent }
      taken.add(key)
      folders.set([...path, name].join("/"), folder)
      if (category === undefined) missing.push(folder)
      visit([...path, name], folder)
    }
  }
  visit([], undefined)

  const keys = new Map<string, string>()
  for (const file of files) {
    const folder = folders.get(file.folders.join("/"))
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
    const { uuid } = yield* assetCategories.create({
      payload: { key, translations: [{ locale, name }], ...(parentUuid === undefined ? {} : { parentUuid }) }
    })
    created.set(key, uuid)
  }
})
