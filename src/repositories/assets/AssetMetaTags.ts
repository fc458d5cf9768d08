import { Context, Effect, Layer, Option } from "effect"
import { type AssetId, AssetNotFoundError } from "../../domain/assets/Asset.ts"
import {
  type AssetMetaTag,
  type MetaTagInput,
  type MetaTagValidationError,
  passing
} from "../../domain/assets/metaTags/AssetMetaTag.ts"
import type { Encoded } from "../../domain/schema/Encoded.ts"
import type { MetaTagId, MetaTagValue } from "../../domain/assets/metaTags/MetaTag.ts"
import { validate } from "../../domain/assets/metaTags/MetaTagValues.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import { Locales } from "../../domain/schema/Locale.ts"
import { updated, type Written } from "../../domain/write/Written.ts"
import { meetsLasting } from "../../sql/EntityTag.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { index } from "./AssetStatements.ts"
import type { Definitions } from "./CurrentDefinitions.ts"
import { MetaTags } from "./MetaTags.ts"
import { setValuesSql } from "./MetaTagSql.ts"
import { touched } from "../../sql/Reads.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"
import { transaction } from "../../sql/Transactions.ts"

/** The values of an asset as the wire shows them, options labelled in the locale. */
export const metaTagsSql = (asset: Fragment, locale: string): Fragment => sql`(
  select coalesce(jsonb_agg(jsonb_build_object('uuid', d.uuid, 'key', d.key, 'type', d.type, 'value', m.value, 'options', (
      select coalesce(jsonb_agg(jsonb_build_object('uuid', option->'uuid', 'key', option->'key', 'label',
        coalesce(waypost_translations_for(option->'translations', ${locale}::text)->0->>'label', option->>'key'))), '[]')
      from jsonb_array_elements(d.options) option where option->'key' in (select jsonb_path_query(m.value, 'lax $[*]'))
    )) order by d.position, d.key), '[]')
  from asset_meta_tags m join meta_tag_definitions d on d.uuid = m.definition_uuid where m.asset_uuid = ${asset})`

/** The values of assets, in PostgreSQL. */
export class AssetMetaTags extends Context.Service<
  AssetMetaTags,
  {
    /** The values of an asset, options labelled in the locale. */
    get(asset: AssetId, locale: string): Effect.Effect<Encoded<ReadonlyArray<AssetMetaTag>>, AssetNotFoundError>
    /** The values of an asset that is being created, in its transaction: defaults are filled in. */
    initialise(
      asset: AssetId,
      sent: ReadonlyArray<MetaTagInput>,
      categories: ReadonlyArray<string>
    ): Effect.Effect<void, MetaTagValidationError>
    /**
     * Changes the values that were sent, all of them or none. Unless the precondition has the tag of the values, `checkAsset` compares
     * it with the asset, under its lock.
     */
    merge(
      asset: AssetId,
      sent: ReadonlyArray<MetaTagInput>,
      precondition: Precondition,
      checkAsset: Effect.Effect<void, AssetNotFoundError>
    ): Effect.Effect<Written<"assets", AssetId>, AssetNotFoundError | MetaTagValidationError>
  }
>()("waypost/repositories/assets/AssetMetaTags") {
  static readonly layer = Layer.effect(
    AssetMetaTags,
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const metaTags = yield* MetaTags
      const { defaultLocale } = yield* Locales

      const get = Effect.fnUntraced(function* (asset: AssetId, locale: string) {
        // A value of a definition with thousands of options takes long, and others wait behind a pipelined statement.
        const rows = yield* Effect.orDie(
          pooled<{ readonly json: Encoded<ReadonlyArray<AssetMetaTag>> }>`
            select ${metaTagsSql(sql`a.uuid`, locale)}::text as json from assets a where a.uuid = ${asset}::uuid`
        )
        return yield* Effect.fromOption(Option.fromUndefinedOr(rows[0]?.json), () => AssetNotFoundError.of(asset))
      })

      const store = Effect.fnUntraced(function* (
        asset: AssetId,
        mode: "creation" | "merge",
        sent: ReadonlyArray<MetaTagInput>,
        categories: ReadonlyArray<string>
      ) {
        const stored = yield* pooled<{ readonly uuid: MetaTagId; readonly value: MetaTagValue }>`
          select definition_uuid as uuid, value from asset_meta_tags where asset_uuid = ${asset}`
        const values = new Map(stored.map(({ uuid, value }) => [uuid, value]))
        const changes = (definitions: Definitions) => validate({ mode, ...definitions, stored: values, sent })
        if (sent.length === 0) {
          // Without a value to store, definitions may change concurrently.
          const { set } = yield* changes(yield* metaTags.current(categories))
          if (set.length === 0) return false
        }
        const { removed, set } = yield* changes(yield* metaTags.definitions(categories))
        if (removed.length > 0) {
          yield* pooled`
            delete from asset_meta_tags where asset_uuid = ${asset} and definition_uuid = any (${removed}::uuid[])`
        }
        if (set.length > 0) yield* pooled`${setValuesSql(asset, set)}`
        return removed.length + set.length > 0
      })

      const merge = Effect.fnUntraced(
        function* (
          asset: AssetId,
          sent: ReadonlyArray<MetaTagInput>,
          precondition: Precondition,
          checkAsset: Effect.Effect<void, AssetNotFoundError>
        ) {
          const [row] = yield* pooled<{ readonly categories: ReadonlyArray<string> }>`
            select array(select l.category_uuid::text from asset_category_links l where l.asset_uuid = a.uuid) as categories
              from assets a where a.uuid = ${asset} for no key update`
          if (row === undefined) return yield* AssetNotFoundError.of(asset)
          if (precondition !== undefined && !meetsLasting(precondition, yield* get(asset, defaultLocale), passing))
            yield* checkAsset
          const changed = yield* store(asset, "merge", sent, row.categories)
          if (changed) {
            yield* pooled`update assets set ${touched("assets")} where uuid = ${asset}`
            yield* index(pooled, asset)
          }
          return updated("assets", asset, changed)
        },
        (write) => transaction(pooled, write, { waitsForLocks: true })
      )

      return traced(AssetMetaTags, {
        get,
        initialise: (asset, sent, categories) =>
          Effect.asVoid(store(asset, "creation", sent, categories)).pipe(Effect.catchTag("SqlError", Effect.die)),
        merge
      })
    })
  )
}
