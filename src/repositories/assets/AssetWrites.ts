import { Effect } from "effect"
import {
  Asset,
  type AssetCreate,
  type AssetId,
  AssetNotFoundError,
  extraMembers,
  type PartialAsset
} from "../../domain/assets/Asset.ts"
import { type FileId, FileNotFoundError, stemOf } from "../../domain/assets/File.ts"
import { noPrecondition, type Precondition } from "../../domain/query/Precondition.ts"
import { Locales } from "../../domain/schema/Locale.ts"
import { checkLocales } from "../../domain/schema/Translations.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import { columnOf } from "../../sql/Columns.ts"
import { sql } from "../../sql/Fragment.ts"
import * as Records from "../../sql/Records.ts"
import { Sql } from "../../sql/Sql.ts"
import { transaction } from "../../sql/Transactions.ts"
import { AssetCategories } from "./AssetCategories.ts"
import { computedOf } from "./AssetColumns.ts"
import { constraintErrors } from "./AssetErrors.ts"
import { AssetMetaTags } from "./AssetMetaTags.ts"
import { index, replaceCategories } from "./AssetStatements.ts"
import { Files } from "./Files.ts"
import { ThumbnailQueue } from "./ThumbnailQueue.ts"

export const makeRecords = Effect.gen(function* () {
  const locales = yield* Locales
  return yield* Records.make({
    kind: "assets",
    table: "assets",
    record: Asset,
    notFound: AssetNotFoundError,
    writeOnly: [columnOf("fileUuid", "uuid")],
    extras: extraMembers,
    computed: computedOf(yield* PublicUrl, locales.defaultLocale),
    assignments: { translations: (current, sent) => sql`waypost_merge_translations(${current}, ${sent})` },
    // Whether a patch changed what can be searched.
    reports: { member: "translations", sql: sql`true` }
  })
})

/** Creation and update, each with the categories, meta tags, search text and thumbnails of the asset. */
export const makeWrites = Effect.fnUntraced(function* (records: Effect.Success<typeof makeRecords>) {
  const { pooled } = yield* Sql
  const locales = yield* Locales
  const files = yield* Files
  const categories = yield* AssetCategories
  const metaTags = yield* AssetMetaTags
  const thumbnails = yield* ThumbnailQueue

  const fileOf = Effect.fnUntraced(function* (uuid: FileId) {
    return yield* Effect.fromOption(yield* files.find(uuid), () => FileNotFoundError.of(uuid))
  })

  /** The translations that were sent, or the name of the file in the default locale. */
  const named = Effect.fnUntraced(function* (asset: AssetCreate) {
    const { fileName } = yield* fileOf(asset.fileUuid)
    const sent = asset.translations ?? []
    if (sent.length > 0) return (yield* checkLocales(locales, sent)).map(withoutNull)
    const stem = stemOf(fileName).trim()
    return [{ locale: locales.defaultLocale, name: stem === "" ? fileName : stem }]
  })

  const create = Effect.fnUntraced(
    function* (asset: AssetCreate) {
      const translations = yield* named(asset)
      const wanted = yield* categories.resolve(asset.categories ?? [])
      const { returned: _, ...written } = yield* records
        .insert({ ...asset, translations })
        .pipe(constraintErrors(asset.fileUuid))
      const { uuid } = written
      if (wanted.length > 0) yield* replaceCategories(pooled, uuid, wanted)
      yield* metaTags.initialise(uuid, asset.metaTags ?? [], wanted)
      yield* index(pooled, uuid)
      yield* thumbnails.offer(asset.fileUuid)
      return written
    },
    (write) => transaction(pooled, write, { waitsForLocks: true })
  )

  const update = Effect.fnUntraced(
    function* (uuid: AssetId, patch: PartialAsset, precondition: Precondition) {
      yield* records.lock(uuid, precondition)
      const { fileUuid } = patch
      // An unknown file is reported before a rule that the request breaks.
      if (fileUuid !== undefined) yield* fileOf(fileUuid)
      const checked = patch.translations
        ? { ...patch, translations: yield* checkLocales(locales, patch.translations, ({ name }) => name === null) }
        : patch
      const wanted = patch.categories === undefined ? undefined : yield* categories.resolve(patch.categories ?? [])
      const { returned, ...written } = yield* records
        .patch(uuid, checked, noPrecondition)
        .pipe(constraintErrors(fileUuid))
      const isMoved = wanted !== undefined && (yield* replaceCategories(pooled, uuid, wanted))
      if (isMoved) yield* records.touch(uuid)
      if (isMoved || returned !== undefined || fileUuid !== undefined) yield* index(pooled, uuid)
      if (fileUuid !== undefined) yield* thumbnails.offer(fileUuid)
      return { ...written, changed: written.changed || isMoved }
    },
    (write) => transaction(pooled, write)
  )

  return { create, update }
})

const withoutNull = ({ description, ...translation }: NonNullable<AssetCreate["translations"]>[number]) =>
  description === undefined || description === null ? translation : { ...translation, description }
