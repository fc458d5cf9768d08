import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { InvalidAssetCategoriesError } from "../../domain/assets/AssetCategory.ts"
import type { Encoded } from "../../domain/schema/Encoded.ts"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import { listed } from "../../domain/write/Excerpts.ts"
import {
  MetaTagDefinition,
  type MetaTagDefinitionCreate,
  type MetaTagId,
  MetaTagNotFoundError,
  type PartialMetaTagDefinition
} from "../../domain/assets/metaTags/MetaTag.ts"
import { empty, type Draft, removedOptions, applyPatch } from "../../domain/assets/metaTags/MetaTagRules.ts"
import { defaults } from "../../domain/query/Pagination.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { checkLocales } from "../../domain/schema/Translations.ts"
import { AssetCategories } from "./AssetCategories.ts"
import * as CurrentDefinitions from "./CurrentDefinitions.ts"
import { allSql, bindSql, computed, lockDefinitionsSql, lockValuesSql, usedOptionsSql } from "./MetaTagSql.ts"
import { leave } from "../../sql/batch/Batch.ts"
import type { Batch } from "../../sql/batch/BatchTypes.ts"
import { maxAnswerBytes } from "../../sql/lists/AnswerSizes.ts"
import * as PageCost from "../../sql/lists/PageCost.ts"
import * as Records from "../../sql/Records.ts"
import { Sql } from "../../sql/Sql.ts"
import { byConstraint } from "../../sql/SqlErrors.ts"
import { transaction } from "../../sql/Transactions.ts"
import { traced } from "../../sql/Traced.ts"

type Rejected = InvalidAssetCategoriesError | InvalidLocaleError | InvalidRequestError

/** The definitions of meta tags, in PostgreSQL. With a definition, the values that assets have of it are deleted. */
export class MetaTags extends Context.Service<
  MetaTags,
  Records.Repository<{
    kind: "metaTags"
    record: MetaTagDefinition
    create: MetaTagDefinitionCreate
    patch: PartialMetaTagDefinition
    notFound: MetaTagNotFoundError
    rejected: { create: Rejected; update: Rejected; delete: never }
  }> & {
    readonly bulk: Batch
    /** All definitions, or those that apply to some of the categories; the translation for the locale comes first. */
    all(request?: {
      readonly categories?: ReadonlyArray<string> | undefined
      readonly locale?: string | undefined
    }): Effect.Effect<Encoded<ReadonlyArray<MetaTagDefinition>>>
    /** The definitions for an asset in these categories. */
    current(categories: ReadonlyArray<string>): Effect.Effect<CurrentDefinitions.Definitions>
    /**
     * The definitions for an asset in these categories, none of which changes before the transaction of the caller ends. That
     * transaction gives its connection back when it does not get the lock in time.
     */
    definitions(categories: ReadonlyArray<string>): Effect.Effect<CurrentDefinitions.Definitions>
  }
>()("waypost/repositories/assets/MetaTags") {
  static readonly layer = Layer.effect(
    MetaTags,
    Effect.gen(function* () {
      const locales = yield* Locales
      const categories = yield* AssetCategories
      const { largePages, pooled } = yield* Sql
      const costs = { whole: PageCost.make(), ofCategories: PageCost.make() }
      const records = yield* Records.make({
        kind: "metaTags",
        table: "meta_tag_definitions",
        record: MetaTagDefinition,
        notFound: MetaTagNotFoundError,
        computed
      })
      const all: MetaTags["Service"]["all"] = Effect.fnUntraced(function* (request = {}) {
        const { categories = null, locale } = request
        const read = Effect.orDie(
          pooled<{
            readonly json: Encoded<ReadonlyArray<MetaTagDefinition>> | null
          }>`${allSql(categories, locale)}`
        )
        const cost = categories === null ? costs.whole : costs.ofCategories
        // They cost what a page of the default limit costs that has as many bytes.
        const [row] = yield* cost.isLarge(defaults.limit) ? largePages(read) : read
        const { json } = row!
        cost.note(json?.length ?? maxAnswerBytes, defaults.limit)
        return json ?? (yield* Effect.die(tooMuch))
      })

      const current = CurrentDefinitions.make(pooled)

      const definitions = (categories: ReadonlyArray<string>) =>
        Effect.andThen(Effect.orDie(pooled`${lockValuesSql}`), current(categories))

      const checkAllLocales = ({ group, options, translations }: PartialMetaTagDefinition) => {
        const texts = [translations, group?.translations, ...(options ?? []).map((option) => option.translations)]
        const named = new Set(texts.flatMap((list) => (list ?? []).map(({ locale }) => locale)))
        return checkLocales(
          locales,
          Array.from(named, (locale) => ({ locale }))
        )
      }

      const applied = (before: Draft, sent: PartialMetaTagDefinition) =>
        Effect.fromResult(applyPatch(before, sent, SecureRandom.uuidV7Unsafe))

      const bind = (uuid: MetaTagId, wanted: ReadonlyArray<string>) =>
        Effect.map(pooled<{ readonly changes: number }>`${bindSql(uuid, wanted)}`, ([row]) => row!.changes > 0)

      const notUsed = Effect.fnUntraced(function* (uuid: MetaTagId, options: ReadonlyArray<string>) {
        if (options.length === 0) return
        const used = yield* pooled<{ readonly key: string }>`${usedOptionsSql(uuid, options)}`
        if (used.length > 0) return yield* stillUsed(used.map(({ key }) => key))
      })

      // Each write depends on the values that assets have.
      const bulk = records.batch({
        key: { member: "key" },
        create: () => leave,
        update: () => leave,
        deletes: false
      })

      return traced(MetaTags, {
        bulk,
        get: records.get,
        list: records.list,
        all,
        current,
        definitions,
        create: Effect.fnUntraced(function* (definition) {
          yield* checkAllLocales(definition)
          const complete = yield* applied(empty(definition), definition)
          const write = Effect.gen(function* () {
            const wanted = yield* categories.resolve(definition.categories ?? [])
            const written = yield* records.insert({ ...definition, ...complete }).pipe(constraintErrors)
            yield* bind(written.uuid, wanted)
            return written
          })
          return yield* transaction(pooled, write, { waitsForLocks: true })
        }),
        update: Effect.fnUntraced(function* (uuid, patch, precondition) {
          yield* records.checkPrecondition(uuid, precondition)
          yield* checkAllLocales(patch)
          const write = Effect.gen(function* () {
            yield* pooled`${lockDefinitionsSql}`
            const wanted =
              patch.categories === undefined ? undefined : yield* categories.resolve(patch.categories ?? [])
            const before = yield* Effect.orDie(decode(yield* records.get(uuid)))
            const after = yield* applied(before, patch)
            yield* notUsed(uuid, removedOptions(before, after))
            const written = yield* records.patch(uuid, appliedPatch(patch, after), precondition).pipe(constraintErrors)
            if (wanted === undefined || !(yield* bind(uuid, wanted))) return written
            yield* records.touch(uuid)
            return { ...written, changed: true }
          })
          return yield* transaction(pooled, write, { waitsForLocks: true })
        }),
        delete: (uuid, precondition) => {
          const remove = Effect.gen(function* () {
            yield* pooled`${lockDefinitionsSql}`
            // A deletion of a minute does not begin again because a lock takes a moment.
            yield* pooled`set local lock_timeout to default`
            return yield* records.removeNamed(uuid, precondition)
          })
          return transaction(pooled, remove, { waitsForLocks: true })
        }
      })
    })
  )
}

/** The errors of the constraints of definitions. */
export const constraintErrors = byConstraint({
  meta_tag_definitions_key_key: () =>
    InvalidRequestError.inBody("key", "notUnique", "Another meta tag already has this key"),
  meta_tag_definitions_bytes: () =>
    InvalidRequestError.inBody(
      "options",
      "tooMuch",
      "All meta tags together have at most 16 MiB; leave out options that no asset has, or delete meta tags that are not used"
    )
})

const tooMuch = InvalidRequestError.at(
  "query",
  "category",
  "tooMuch",
  `These meta tags have more than ${maxAnswerBytes / 1024 ** 2} MiB; ask for those of one category`
)

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(MetaTagDefinition))

/** The patch with the resulting members. */
const appliedPatch = (patch: PartialMetaTagDefinition, after: Draft): PartialMetaTagDefinition => ({
  ...patch,
  ...(patch.translations === undefined ? {} : { translations: after.translations }),
  ...(patch.options === undefined ? {} : { options: after.options }),
  ...(patch.group ? { group: after.group ?? null } : {}),
  ...(after.defaultValue === undefined ? {} : { defaultValue: after.defaultValue })
})

const stillUsed = (keys: ReadonlyArray<string>) =>
  InvalidRequestError.inBody(
    "options",
    "inUse",
    `Assets still have ${listed(keys)}; send what they have with "active": false instead of leaving it out`
  )
