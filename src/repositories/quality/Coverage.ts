import { Context, Effect, Layer, Record } from "effect"
import {
  type LocaleCoverage,
  RecordCoverage,
  type TranslatedResource,
  translatedResources
} from "../../domain/quality/Coverage.ts"
import { defaults, pagination } from "../../domain/query/Pagination.ts"
import { type Encoded, encodedArray, encodedOf, type EncodedPage } from "../../domain/schema/Encoded.ts"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import { columnsOf } from "../../sql/Columns.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import * as Listing from "../../sql/lists/Listing.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"
import { labelSql, recordTables } from "../changes/RecordTables.ts"

/** How far records are translated. */
export class Coverage extends Context.Service<
  Coverage,
  {
    /** The figures of resources by locale. */
    ofResources(
      resources: ReadonlyArray<TranslatedResource>,
      locales: ReadonlyArray<string>,
      request: Pick<Listing.ListRequest, "limit" | "page">
    ): Effect.Effect<EncodedPage<LocaleCoverage>, InvalidLocaleError>
    /** The records of a resource. */
    ofRecords(
      resource: TranslatedResource,
      locales: ReadonlyArray<string>,
      request: Listing.ListRequest
    ): Effect.Effect<EncodedPage<RecordCoverage>, InvalidLocaleError>
  }
>()("waypost/repositories/quality/Coverage") {
  static readonly layer = Layer.effect(
    Coverage,
    Effect.gen(function* () {
      const { search } = yield* Sql
      const locales = yield* Locales
      const lists = yield* Effect.all(
        Record.map(translatedResources, (type) =>
          Listing.make<RecordCoverage>({ table: recordTables[type], columns: columnsOf(RecordCoverage) })
        )
      )
      const checked = (asked: ReadonlyArray<string>) =>
        Effect.map(
          Effect.forEach(asked, (locale) => locales.check(locale)),
          (canonical) => [...new Set(canonical)]
        )

      const ofResources = Effect.fnUntraced(function* (
        resources: ReadonlyArray<TranslatedResource>,
        asked: ReadonlyArray<string>,
        { limit = defaults.limit, page = defaults.page }: Pick<Listing.ListRequest, "limit" | "page">
      ) {
        const wanted = yield* checked(asked)
        const parts = resources.map(
          (resource, index) => sql`select ${index}::int as place, ${resource}::text as resource, covered.*
            from ${sql.literal(recordTables[translatedResources[resource]])} t, lateral (${coverageOf(resource, wanted, locales)}) covered`
        )
        const figures = sql`select resource, locale, json_build_object('resource', resource, 'locale', locale,
            'records', count(*), 'complete', count(*) filter (where status = 'complete'),
            'partial', count(*) filter (where status = 'partial'), 'missing', count(*) filter (where status = 'missing'))::text as json,
            min(place) as place, min(position) as position
          from (${sql.join(" union all ", false)(parts)}) records group by 1, 2`
        const rows = yield* search((pool) =>
          Effect.orDie(
            pool<{
              readonly resource: TranslatedResource
              readonly locale: string
              readonly json: Encoded<LocaleCoverage>
            }>`${figures}`.unprepared
          )
        )
        // A resource without records has figures too.
        const all = resources.flatMap((resource) =>
          wanted.map(
            (locale) =>
              rows.find((row) => row.resource === resource && row.locale === locale)?.json ??
              encodedOf<LocaleCoverage>({ resource, locale, records: 0, complete: 0, partial: 0, missing: 0 })
          )
        )
        const shown = all.slice((page - 1) * limit, page * limit)
        const data = encodedArray(shown)
        return { data, pagination: pagination(limit, page, all.length) }
      })

      const ofRecords = Effect.fnUntraced(function* (
        resource: TranslatedResource,
        asked: ReadonlyArray<string>,
        request: Listing.ListRequest
      ) {
        const wanted = yield* checked(asked)
        const columns = columnsOf(RecordCoverage, {
          resource: sql`${resource}::text`,
          label: labelSql(translatedResources[resource], sql`t.uuid`),
          translations: sql`(select jsonb_agg(jsonb_build_object('locale', locale, 'status', status, 'absent', absent) order by position)
            from (${coverageOf(resource, wanted, locales)}) covered)`
        })
        return yield* lists[resource].list({ sortBy: "uuid", sortOrder: "asc", ...request }, { columns })
      })

      return traced(Coverage, { ofResources, ofRecords })
    })
  )
}

interface Default {
  readonly defaultLocale: string
  readonly defaultLanguage: string
}

/** The translations of a record `t`. A product has that of the default locale in members of its own. */
const translationsOf = (resource: TranslatedResource, { defaultLocale }: Default): Fragment =>
  resource === "products"
    ? sql`jsonb_build_array(jsonb_strip_nulls(jsonb_build_object('locale', ${defaultLocale}::text, 'name', t.name,
        'description', t.description))) || t.translations`
    : sql`t.translations`

/** The status of a record `t` in each locale, and the texts that it lacks there. */
const coverageOf = (resource: TranslatedResource, locales: ReadonlyArray<string>, defaults: Default): Fragment => sql`
  select wanted.locale, wanted.position, texts.absent, case when cardinality(texts.absent) = 0 then 'complete'
    when cardinality(texts.absent) < cardinality(known.texts) then 'partial' else 'missing' end as status
  from (select ${translationsOf(resource, defaults)} as list offset 0) translations,
    lateral (select array(select jsonb_object_keys(waypost_translation(list, ${defaults.defaultLocale}::text,
      ${defaults.defaultLanguage}::text) - 'locale')) as texts offset 0) known,
    unnest(${locales}::text[]) with ordinality wanted (locale, position),
    lateral (select array(select text from unnest(known.texts) text where not coalesce(jsonb_exists((select item
      from jsonb_array_elements(list) item where item->>'locale' = wanted.locale limit 1), text), false)) as absent offset 0) texts`
