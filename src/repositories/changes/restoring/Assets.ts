import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { Asset, AssetId } from "../../../domain/assets/Asset.ts"
import { AssetCategory } from "../../../domain/assets/AssetCategory.ts"
import { FileId } from "../../../domain/assets/File.ts"
import { MetaTagDefinition } from "../../../domain/assets/metaTags/MetaTag.ts"
import { InvalidRequestError } from "../../../domain/write/RequestErrors.ts"
import type { PublicUrl } from "../../../settings/PublicUrl.ts"
import * as AssetCategories from "../../assets/AssetCategories.ts"
import { computedOf } from "../../assets/AssetColumns.ts"
import { constraintErrors } from "../../assets/AssetErrors.ts"
import { index, replaceCategories } from "../../assets/AssetStatements.ts"
import type { MetaTags } from "../../assets/MetaTags.ts"
import * as Definitions from "../../assets/MetaTags.ts"
import { bindSql, computed as definitionComputed, setValuesSql, usedOptionsSql } from "../../assets/MetaTagSql.ts"
import type { ThumbnailQueue } from "../../assets/ThumbnailQueue.ts"
import type { State } from "../EventValues.ts"
import { columnsToRestore, existing, missing, type Target, textOf, touch, writeRow } from "./Restoration.ts"
import { memberOf } from "../../../domain/schema/Json.ts"

const decodeCategories = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ uuid: Schema.String })))
const categoriesOf = (state: State) => decodeCategories(state["categories"] ?? []).map(({ uuid }) => uuid)

/** The values of an asset by the uuid of their definition. */
const valuesOf = (state: State) =>
  Object.entries(state).flatMap(([name, held]) =>
    name.startsWith("metaTags.") && held
      ? [{ uuid: name.slice("metaTags.".length), value: memberOf(held, "value") }]
      : []
  )

const writeValues = Effect.fnUntraced(function* (
  client: SqlClient.SqlClient,
  uuid: string,
  values: ReturnType<typeof valuesOf>
) {
  const removed = yield* client`
    delete from asset_meta_tags where asset_uuid = ${uuid}
      and not definition_uuid = any (${values.map((value) => value.uuid)}::uuid[]) returning 1`
  const set = yield* client`${setValuesSql(uuid, values)}`
  return removed.length + set.length > 0
})

/** An asset. The values whose options are gone are left out; otherwise they need not fit a definition that changed. */
export const asset = (
  client: SqlClient.SqlClient,
  publicUrl: PublicUrl["Service"],
  metaTags: MetaTags["Service"],
  thumbnails: ThumbnailQueue["Service"]
) => {
  const columns = columnsToRestore(Asset, { computed: computedOf(publicUrl, "en"), more: ["file_uuid"] })
  return Effect.fnUntraced(function* (target: Target) {
    const { exists, state } = target
    const uuid = AssetId.make(target.uuid)
    const fileUuid = FileId.make(String(state["file_uuid"]))
    const changed = yield* writeRow(client, "assets", columns, target).pipe(constraintErrors(fileUuid))
    const categories = categoriesOf(state)
    const found = yield* existing(client, "asset_categories", categories)
    const kept = categories.filter((category) => found.has(category))
    const isMoved = yield* replaceCategories(client, uuid, kept)
    const { definitions } = yield* metaTags.definitions(kept)
    const options = new Map<string, ReadonlyArray<string>>(
      definitions.map((known) => [known.uuid, known.options.map(({ key }) => key)])
    )
    const isKnown = ({ uuid, value }: { readonly uuid: string; readonly value: unknown }) => {
      const known = options.get(uuid)
      const isSelect = definitions
        .find((definition) => definition.uuid === uuid)
        ?.type.toLowerCase()
        .includes("select")
      return known !== undefined && (isSelect !== true || [value].flat().every((key) => known.includes(String(key))))
    }
    const values = valuesOf(state)
    const valid = values.filter(isKnown)
    const valuesChanged = yield* writeValues(client, uuid, valid)
    if (exists && !changed && (isMoved || valuesChanged)) yield* touch(client, "assets", uuid)
    yield* index(client, uuid)
    yield* thumbnails.offer(fileUuid)
    return {
      changed: changed || isMoved || valuesChanged,
      missing: missing(["categories", categories.length - kept.length], ["metaTags", values.length - valid.length])
    }
  })
}

const categoryColumns = columnsToRestore(AssetCategory)

/** A category; without its parent, if that is gone. */
export const assetCategory = (client: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (target: Target) {
    const { state } = target
    const parentUuid = textOf(state, "parent_uuid")
    const parents = yield* existing(client, "asset_categories", parentUuid ? [parentUuid] : [])
    const isLost = Boolean(parentUuid) && parents.size === 0
    const kept = isLost ? { ...target, state: { ...state, parent_uuid: null } } : target
    const changed = yield* writeRow(client, "asset_categories", categoryColumns, kept).pipe(
      AssetCategories.constraintErrors({}),
      // The parent is locked.
      Effect.catchTag("InvalidAssetCategoriesError", Effect.die)
    )
    return { changed, missing: missing(["parentUuid", isLost ? 1 : 0]) }
  })

const definitionColumns = columnsToRestore(MetaTagDefinition, { computed: definitionComputed })

const decodeOptions = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ key: Schema.String })))
const optionsOf = (options: unknown) => decodeOptions(options).map(({ key }) => key)

/** The definition of a meta tag. Options that assets have cannot be removed; of its categories, if it had any, one must exist. */
export const metaTag = (client: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (target: Target) {
    const { exists, state, uuid } = target
    const [current] = yield* client<{ readonly options: unknown }>`
      select options from meta_tag_definitions where uuid = ${uuid}`
    const left = new Set(optionsOf(state["options"] ?? []))
    const removed = optionsOf(current?.options ?? []).filter((key) => !left.has(key))
    const used = removed.length === 0 ? [] : yield* client`${usedOptionsSql(uuid, removed)}`
    if (used.length > 0) return yield* optionsInUse
    const changed = yield* writeRow(client, "meta_tag_definitions", definitionColumns, target).pipe(
      Definitions.constraintErrors
    )
    const categories = categoriesOf(state)
    const found = yield* existing(client, "asset_categories", categories)
    const kept = categories.filter((category) => found.has(category))
    // A definition without categories applies to all assets.
    if (categories.length > 0 && kept.length === 0) return yield* categoriesGone
    const [bound] = yield* client<{ readonly changes: number }>`${bindSql(uuid, kept)}`
    const isBound = bound!.changes > 0
    if (exists && !changed && isBound) yield* touch(client, "meta_tag_definitions", uuid)
    return { changed: changed || isBound, missing: missing(["categories", categories.length - kept.length]) }
  })

const categoriesGone = InvalidRequestError.inBody(
  "eventId",
  "notFound",
  "The categories of the definition are deleted, and without a category it applies to all assets; restore one of its categories first"
)

const optionsInUse = InvalidRequestError.inBody(
  "eventId",
  "inUse",
  "Assets have options that the definition did not have after this event"
)
