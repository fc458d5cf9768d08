import { Context, Effect, Layer } from "effect"
import {
  Asset,
  AssetCreate,
  type AssetId,
  AssetInUseError,
  AssetNotFoundError,
  extraMembers,
  PartialAsset,
  type Usage
} from "../../domain/assets/Asset.ts"
import type { InvalidAssetCategoriesError } from "../../domain/assets/AssetCategory.ts"
import type { AssetMetaTag, MetaTagInput, MetaTagValidationError } from "../../domain/assets/metaTags/AssetMetaTag.ts"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import { type FileId, FileNotFoundError, stemOf } from "../../domain/assets/File.ts"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import type { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { checkLocales } from "../../domain/schema/Translations.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import { AssetCategories } from "./AssetCategories.ts"
import { computedOf } from "./AssetColumns.ts"
import { AssetMetaTags } from "./AssetMetaTags.ts"
import { constraintErrors } from "./AssetErrors.ts"
import { Files } from "./Files.ts"
import type { ListRequest } from "../../sql/Listing.ts"
import type { View } from "../../sql/ListSql.ts"
import * as Records from "../../sql/Records.ts"
import { ThumbnailQueue } from "./ThumbnailQueue.ts"
import { Sql } from "../../sql/Sql.ts"
import { transaction } from "../../sql/SqlErrors.ts"

export type IncludeRequest = ReadonlyArray<(typeof extraMembers)[number]>

type Refused = FileNotFoundError | InvalidAssetCategoriesError | InvalidLocaleError | InvalidRequestError

/** The brand material, in PostgreSQL. */
export class Assets extends Context.Service<
  Assets,
  {
    get(uuid: AssetId, include?: IncludeRequest): Effect.Effect<Encoded<Asset>, AssetNotFoundError>
    list(request: ListRequest, view?: View): Effect.Effect<EncodedPage<Asset>>
    /** Creates the asset with its categories and meta tags, or nothing. */
    create(asset: AssetCreate): Effect.Effect<AssetId, Refused | MetaTagValidationError>
    update(
      uuid: AssetId,
      patch: PartialAsset,
      precondition: Precondition
    ): Effect.Effect<AssetId, AssetNotFoundError | Refused>
    /** The values of an asset, options labelled in the locale. */
    metaTags(
      uuid: AssetId,
      locale: string | undefined
    ): Effect.Effect<Encoded<ReadonlyArray<AssetMetaTag>>, AssetNotFoundError | InvalidLocaleError>
    updateMetaTags(
      uuid: AssetId,
      sent: ReadonlyArray<MetaTagInput>,
      precondition: Precondition
    ): Effect.Effect<AssetId, AssetNotFoundError | MetaTagValidationError>
    /** Unless `force`, an asset that is used stays. */
    delete(
      uuid: AssetId,
      force: boolean,
      precondition: Precondition
    ): Effect.Effect<AssetId, AssetNotFoundError | AssetInUseError>
  }
>()("waypost/repositories/assets/Assets") {
  static readonly layer = Layer.effect(
    Assets,
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const locales = yield* Locales
      const files = yield* Files
      const categories = yield* AssetCategories
      const metaTags = yield* AssetMetaTags
      const renditions = yield* ThumbnailQueue
      const publicUrl = yield* PublicUrl
      const records = yield* Records.make({
        table: "assets",
        record: Asset,
        create: AssetCreate,
        patch: PartialAsset,
        writeOnly: [{ member: "fileUuid", kind: "uuid", sql: "t.file_uuid" }],
        extras: extraMembers,
        computed: computedOf(publicUrl, locales.defaultLocale),
        assignments: { translations: (current, sent) => `waypost_merge_translations(${current}, ${sent})` },
        // Whether a patch changed what can be searched.
        reports: { member: "translations", sql: "true" }
      })

      const get = Effect.fnUntraced(function* (uuid: AssetId, include: IncludeRequest = []) {
        return yield* Effect.fromOption(yield* records.get(uuid, { include }), () => AssetNotFoundError.of(uuid))
      })

      /** What does not exist is told before a rule that the request breaks. */
      const existing = Effect.fnUntraced(function* (uuid: FileId) {
        return yield* Effect.fromOption(yield* files.find(uuid), () => FileNotFoundError.of(uuid))
      })

      /** Locks the asset, as one that changes it finds it; with `If-Match`, if it is still the one that was read. */
      const lock = Effect.fnUntraced(function* (uuid: AssetId, precondition: Precondition) {
        const found = yield* pooled.unsafe("select 1 from assets where uuid = $1 for no key update", [uuid])
        if (found.length === 0) return yield* AssetNotFoundError.of(uuid)
        if (precondition !== undefined) yield* records.checkPrecondition(uuid, precondition)
      })

      /** Whether that changed anything. */
      const replaceCategories = Effect.fnUntraced(function* (uuid: AssetId, wanted: ReadonlyArray<string>) {
        // Whoever renames one of them at this moment is waited for, or comes to see that this asset is in it.
        yield* pooled.unsafe("select from asset_categories where uuid = any ($1::uuid[]) order by uuid for share", [
          wanted
        ])
        const [row] = yield* pooled.unsafe<{ readonly changed: boolean }>(
          `with gone as (
            delete from asset_category_links where asset_uuid = $1 and not category_uuid = any ($2::uuid[]) returning 1
          ), added as (
            insert into asset_category_links (asset_uuid, category_uuid)
              select $1::uuid, wanted from unnest($2::uuid[]) wanted on conflict do nothing returning 1
          ) select exists (select from gone) or exists (select from added) as changed`,
          [uuid, wanted]
        )
        return row!.changed
      })

      const index = (uuid: AssetId) => pooled.unsafe("select waypost_index_asset($1)", [uuid])

      const touch = (uuid: AssetId) =>
        pooled.unsafe(
          "update assets set edited_at = greatest(now(), edited_at + interval '1 millisecond') where uuid = $1",
          [uuid]
        )

      const named = Effect.fnUntraced(function* (asset: AssetCreate) {
        const { fileName } = yield* existing(asset.fileUuid)
        const sent = asset.translations ?? []
        if (sent.length > 0) return (yield* checkLocales(locales, sent)).map(withoutNull)
        const stem = stemOf(fileName)
        return [{ locale: locales.defaultLocale, name: stem.trim() === "" ? fileName : stem }]
      })

      const create = Effect.fnUntraced(function* (asset: AssetCreate) {
        return yield* transaction(
          pooled,
          Effect.gen(function* () {
            const translations = yield* named(asset)
            const wanted = yield* categories.resolve(asset.categories ?? [])
            const inserted = yield* records.insert({ ...asset, translations }).pipe(constraintErrors(asset.fileUuid))
            const uuid = inserted.uuid as AssetId
            if (wanted.length > 0) yield* replaceCategories(uuid, wanted)
            yield* metaTags.initialise(uuid, asset.metaTags ?? [], wanted)
            yield* index(uuid)
            yield* renditions.offer(asset.fileUuid)
            return uuid
          })
        )
      })

      const update = Effect.fnUntraced(function* (uuid: AssetId, patch: PartialAsset, precondition: Precondition) {
        return yield* transaction(
          pooled,
          Effect.gen(function* () {
            yield* lock(uuid, precondition)
            const { fileUuid } = patch
            if (fileUuid !== undefined) yield* existing(fileUuid)
            const checked = patch.translations
              ? { ...patch, translations: yield* checkLocales(locales, patch.translations) }
              : patch
            const wanted =
              patch.categories === undefined ? undefined : yield* categories.resolve(patch.categories ?? [])
            const { returned } = yield* records.patch(uuid, checked, precondition).pipe(constraintErrors(fileUuid))
            const isMoved = wanted !== undefined && (yield* replaceCategories(uuid, wanted))
            if (isMoved) yield* touch(uuid)
            if (isMoved || returned !== undefined || fileUuid !== undefined) yield* index(uuid)
            if (fileUuid !== undefined) yield* renditions.offer(fileUuid)
            return uuid
          })
        )
      })

      const usagesOf = (uuid: AssetId) =>
        pooled.unsafe<Usage>(
          `select 'location' as type, location_uuid as uuid from location_media where asset_uuid = $1
            union select 'product', product_uuid from product_assets where asset_uuid = $1
            union select 'post', uuid from posts where cover_asset_uuid = $1
            union select 'post', uuid from posts where media_asset_uuids @> array[$1::uuid::text]
            order by type, uuid`,
          [uuid]
        )

      const remove = Effect.fnUntraced(function* (uuid: AssetId, force: boolean, precondition: Precondition) {
        return yield* transaction(
          pooled,
          Effect.gen(function* () {
            // Nobody comes to use it between the question and the deletion.
            const there = yield* pooled.unsafe("select 1 from assets where uuid = $1 for update", [uuid])
            // Posts may still name one that was deleted by force.
            if (there.length === 0) return yield* AssetNotFoundError.of(uuid)
            yield* records.checkPrecondition(uuid, precondition)
            const usages = force ? [] : yield* usagesOf(uuid)
            if (usages.length > 0) return yield* AssetInUseError.of(usages)
            if (!(yield* records.remove(uuid, precondition))) return yield* AssetNotFoundError.of(uuid)
            return uuid
          })
        )
      })

      const shownMetaTags = Effect.fnUntraced(function* (uuid: AssetId, locale: string | undefined) {
        return yield* metaTags.get(uuid, locale === undefined ? locales.defaultLocale : yield* locales.check(locale))
      })

      const updateMetaTags = Effect.fnUntraced(function* (
        uuid: AssetId,
        sent: ReadonlyArray<MetaTagInput>,
        precondition: Precondition
      ) {
        const write = Effect.andThen(lock(uuid, precondition), metaTags.merge(uuid, sent))
        return yield* transaction(pooled, write)
      })

      /** The name is told in many languages; a list that does not say which sorts by the first. */
      const list = (request: ListRequest, view: View = {}) =>
        records.list(request, { key: (sortBy) => (sortBy === "name" ? nameKey : undefined), ...view })

      return Assets.of({ get, list, create, update, metaTags: shownMetaTags, updateMetaTags, delete: remove })
    })
  )
}

const withoutNull = ({ description, ...told }: NonNullable<AssetCreate["translations"]>[number]) =>
  description === undefined || description === null ? told : { ...told, description }

const nameKey = `t.name collate "und-x-icu"`
