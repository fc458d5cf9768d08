import { Context, Effect, Layer } from "effect"
import {
  type Asset,
  type AssetCreate,
  type AssetId,
  AssetInUseError,
  type AssetNotFoundError,
  type PartialAsset
} from "../../domain/assets/Asset.ts"
import type { InvalidAssetCategoriesError } from "../../domain/assets/AssetCategory.ts"
import type { AssetMetaTag, MetaTagInput, MetaTagValidationError } from "../../domain/assets/metaTags/AssetMetaTag.ts"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import type { FileNotFoundError } from "../../domain/assets/File.ts"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import type { InvalidFilterError } from "../../domain/query/Filter.ts"
import type { Selection } from "../../domain/query/Selection.ts"
import { noPrecondition, type Precondition } from "../../domain/query/Precondition.ts"
import type { Written } from "../../domain/write/Written.ts"
import type { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { AssetMetaTags } from "./AssetMetaTags.ts"
import { usagesOf } from "./AssetStatements.ts"
import { makeRecords, makeWrites } from "./AssetWrites.ts"
import { resolveMetaTags } from "./MetaTagFilters.ts"
import { collation } from "../../sql/Columns.ts"
import { sql } from "../../sql/Fragment.ts"
import type { ListRequest } from "../../sql/lists/Listing.ts"
import type { View } from "../../sql/View.ts"
import { leave } from "../../sql/batch/Batch.ts"
import type { Batch } from "../../sql/batch/BatchTypes.ts"
import { Sql } from "../../sql/Sql.ts"
import { transaction } from "../../sql/Transactions.ts"
import { traced } from "../../sql/Traced.ts"

type Rejected = FileNotFoundError | InvalidAssetCategoriesError | InvalidLocaleError | InvalidRequestError

type WrittenAsset = Written<"assets", AssetId>

/** The assets, in PostgreSQL. */
export class Assets extends Context.Service<
  Assets,
  {
    get(uuid: AssetId, selection?: Selection): Effect.Effect<Encoded<Asset>, AssetNotFoundError>
    list(request: ListRequest, view?: View): Effect.Effect<EncodedPage<Asset>, InvalidFilterError>
    /** Creates the asset with its categories and meta tags, or nothing. */
    create(asset: AssetCreate): Effect.Effect<WrittenAsset, Rejected | MetaTagValidationError>
    update(
      uuid: AssetId,
      patch: PartialAsset,
      precondition: Precondition
    ): Effect.Effect<WrittenAsset, AssetNotFoundError | Rejected>
    /** The values of an asset, options labelled in the locale. */
    metaTags(
      uuid: AssetId,
      locale: string | undefined
    ): Effect.Effect<Encoded<ReadonlyArray<AssetMetaTag>>, AssetNotFoundError | InvalidLocaleError>
    /** The precondition is the tag of the values or of the asset. */
    updateMetaTags(
      uuid: AssetId,
      sent: ReadonlyArray<MetaTagInput>,
      precondition: Precondition
    ): Effect.Effect<WrittenAsset, AssetNotFoundError | MetaTagValidationError>
    readonly bulk: Batch
    /** Unless `force`, an asset that is used stays. */
    delete(
      uuid: AssetId,
      force: boolean,
      precondition: Precondition
    ): Effect.Effect<WrittenAsset, AssetNotFoundError | AssetInUseError>
  }
>()("waypost/repositories/assets/Assets") {
  static readonly layer = Layer.effect(
    Assets,
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const locales = yield* Locales
      const metaTags = yield* AssetMetaTags
      const records = yield* makeRecords
      const { create, update } = yield* makeWrites(records)

      const remove = Effect.fnUntraced(
        function* (uuid: AssetId, force: boolean, precondition: Precondition) {
          // Under this lock no other write begins to use the asset. Deletions of assets that locations have wait for each other.
          yield* records.lock(uuid, precondition, "update")
          const usages = force ? [] : yield* usagesOf(pooled, uuid)
          if (usages.length > 0) return yield* AssetInUseError.of(usages)
          return yield* records.remove(uuid, noPrecondition)
        },
        (write) => transaction(pooled, write, { waitsForLocks: true })
      )

      const shownMetaTags = Effect.fnUntraced(function* (uuid: AssetId, locale: string | undefined) {
        return yield* metaTags.get(uuid, locale === undefined ? locales.defaultLocale : yield* locales.check(locale))
      })

      const updateMetaTags = (uuid: AssetId, sent: ReadonlyArray<MetaTagInput>, precondition: Precondition) =>
        transaction(
          pooled,
          Effect.andThen(
            records.lock(uuid, noPrecondition),
            metaTags.merge(uuid, sent, precondition, records.checkPrecondition(uuid, precondition))
          ),
          { waitsForLocks: true }
        )

      /** An asset has a name in each language; a list that does not say which sorts by the first. */
      const list = Effect.fnUntraced(function* (request: ListRequest, view: View = {}) {
        const { filter, keyed } = yield* resolveMetaTags(pooled, request.filter)
        const seen = {
          order: (sortBy: string) => (sortBy === "name" ? { key: nameKey } : undefined),
          keyed,
          // Each value reads all options of its definition, of which there may be thousands.
          isLong: request.include?.includes("metaTags"),
          ...view
        }
        return yield* records.list({ ...request, filter }, seen)
      })

      // Files, categories and texts have rows of their own.
      const bulk = records.batch({
        create: () => leave,
        update: (patch: PartialAsset) =>
          [patch.fileUuid, patch.categories, patch.translations].some((value) => value !== undefined)
            ? leave
            : Effect.succeed(patch),
        deletes: false
      })

      return traced(Assets, {
        bulk,
        get: records.get,
        list,
        create,
        update,
        metaTags: shownMetaTags,
        updateMetaTags,
        delete: remove
      })
    })
  )
}

const nameKey = sql`t.name ${collation}`
