import { Array as Arr, Context, Effect, Layer } from "effect"
import {
  AssetCategory,
  type AssetCategoryCreate,
  type AssetCategoryId,
  AssetCategoryNotFoundError,
  InvalidAssetCategoriesError,
  isKey,
  type PartialAssetCategory
} from "../../domain/assets/AssetCategory.ts"
import { isUuid } from "../../domain/schema/Fields.ts"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { checkLocales } from "../../domain/schema/Translations.ts"
import { limitWaitsSql, lockMovesSql } from "./AssetCategorySql.ts"
import { leave } from "../../sql/batch/Batch.ts"
import type { Batch } from "../../sql/batch/BatchTypes.ts"
import * as Records from "../../sql/Records.ts"
import { Sql } from "../../sql/Sql.ts"
import { byConstraint } from "../../sql/SqlErrors.ts"
import { transaction } from "../../sql/Transactions.ts"
import { traced } from "../../sql/Traced.ts"

type Rejected = InvalidAssetCategoriesError | InvalidLocaleError | InvalidRequestError

/** The categories of assets, in PostgreSQL. A category that is used by another one or by a meta tag is not deleted. */
export class AssetCategories extends Context.Service<
  AssetCategories,
  Records.Repository<{
    kind: "assetCategories"
    record: AssetCategory
    create: AssetCategoryCreate
    patch: PartialAssetCategory
    notFound: AssetCategoryNotFoundError
    rejected: { create: Rejected; update: Rejected; delete: InvalidRequestError }
  }> & {
    readonly bulk: Batch
    /** The categories that keys or uuids name, each once; fails with all unknown names. */
    resolve(
      references: ReadonlyArray<string>
    ): Effect.Effect<ReadonlyArray<AssetCategoryId>, InvalidAssetCategoriesError>
    /** The categories and everything below them. */
    withDescendants(uuids: ReadonlyArray<AssetCategoryId>): Effect.Effect<ReadonlyArray<AssetCategoryId>>
  }
>()("waypost/repositories/assets/AssetCategories") {
  static readonly layer = Layer.effect(
    AssetCategories,
    Effect.gen(function* () {
      const locales = yield* Locales
      const { pooled } = yield* Sql
      const records = yield* Records.make({
        kind: "assetCategories",
        table: "asset_categories",
        record: AssetCategory,
        notFound: AssetCategoryNotFoundError
      })

      const resolve = Effect.fnUntraced(function* (references: ReadonlyArray<string>) {
        const wanted = Arr.dedupe(references.map((reference) => reference.trim()))
        if (wanted.length === 0) return []
        const uuids = wanted.map((reference) => reference.toLowerCase()).filter(isUuid)
        const keys = wanted.filter(isKey)
        const found = yield* pooled<{ readonly uuid: AssetCategoryId; readonly key: string }>`
          select uuid, key from asset_categories where key = any (${keys}) or uuid = any (${uuids}::uuid[])`.pipe(
          Effect.orDie
        )
        const named = new Map<string, AssetCategoryId>(
          found.flatMap(({ key, uuid }) => [
            [key, uuid],
            [uuid, uuid]
          ])
        )
        const uuidOf = (reference: string) =>
          named.get(isUuid(reference.toLowerCase()) ? reference.toLowerCase() : reference)
        const invalid = wanted.filter((reference) => uuidOf(reference) === undefined)
        if (invalid.length > 0) return yield* InvalidAssetCategoriesError.of(invalid)
        return Arr.dedupe(wanted.map((reference) => uuidOf(reference)!))
      })

      const withDescendants = (uuids: ReadonlyArray<AssetCategoryId>) =>
        pooled<{ readonly uuid: AssetCategoryId }>`
          with recursive below as (
            select uuid from asset_categories where uuid = any (${uuids}::uuid[])
            union
            select c.uuid from asset_categories c join below b on c.parent_uuid = b.uuid
          ) select uuid from below`.pipe(
          Effect.map((rows) => rows.map(({ uuid }) => uuid)),
          Effect.orDie
        )

      const withDefaults = Effect.fnUntraced(function* (category: AssetCategoryCreate) {
        return { position: 0, ...category, translations: yield* checkLocales(locales, category.translations ?? []) }
      })

      const withLocales = Effect.fnUntraced(function* (patch: PartialAssetCategory) {
        if (patch.translations === undefined) return patch
        return { ...patch, translations: yield* checkLocales(locales, patch.translations ?? []) }
      })

      // The place of a category in the tree depends on that of others.
      const bulk = records.batch({
        key: { member: "key" },
        create: (category: AssetCategoryCreate) => (category.parentUuid ? leave : withDefaults(category)),
        update: (patch: PartialAssetCategory) => (patch.parentUuid === undefined ? withLocales(patch) : leave),
        deletes: false
      })

      return traced(AssetCategories, {
        bulk,
        get: records.get,
        list: records.list,
        create: Effect.fnUntraced(function* (category) {
          return yield* records.insert(yield* withDefaults(category)).pipe(constraintErrors(category))
        }),
        update: Effect.fnUntraced(function* (uuid, patch, precondition) {
          // A category that does not exist, or has changed, is reported before a rule that the request breaks.
          const checked = yield* Effect.tapError(withLocales(patch), () =>
            records.checkPrecondition(uuid, precondition)
          )
          const write = records.patch(uuid, checked, precondition).pipe(constraintErrors(patch))
          const isMoved = patch.parentUuid !== undefined
          const steps = Effect.gen(function* () {
            yield* pooled`${limitWaitsSql}`
            // With a precondition, the write locks the row first otherwise.
            if (isMoved) yield* pooled`${lockMovesSql}`
            return yield* write
          })
          return yield* transaction(pooled, steps, { waitsForLocks: true })
        }),
        delete: (uuid, precondition) => {
          const remove = records.removeNamed(uuid, precondition).pipe(
            byConstraint({
              asset_categories_parent: () => inUse("Other categories stand below it; move or delete them first"),
              meta_tag_categories_category: () => inUse("Meta tags apply to it; take it out of their categories first")
            })
          )
          // The assets in it are updated before the statement itself says who makes the change; a transaction says it first. Deletions
          // of categories that have assets wait for each other.
          return transaction(pooled, remove, { waitsForLocks: true })
        },
        resolve,
        withDescendants
      })
    })
  )
}

/** The errors of the constraints of asset categories. */
export const constraintErrors = ({ parentUuid }: PartialAssetCategory) =>
  byConstraint({
    asset_categories_key_key: () =>
      InvalidRequestError.inBody("key", "notUnique", "Another asset category already has this key"),
    asset_categories_parent: () => InvalidAssetCategoriesError.of([parentUuid ?? ""]),
    asset_categories_no_cycle: () =>
      InvalidRequestError.inBody("parentUuid", "cycle", "A category cannot stand below itself")
  })

const inUse = (message: string) => InvalidRequestError.at("path", "uuid", "inUse", message)
