import { Context, Effect, Layer, String as Str } from "effect"
import { LocationQuality as Quality, type QualityCounts, qualityRules } from "../../domain/quality/LocationQuality.ts"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import { type Column, columnsOf, isStored } from "../../sql/Columns.ts"
import { sql } from "../../sql/Fragment.ts"
import * as Listing from "../../sql/lists/Listing.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"
import * as LocationMedia from "../locations/LocationMedia.ts"

export interface QualityPage extends EncodedPage<Quality> {
  readonly counts: Encoded<QualityCounts>
}

/** The locations with what is wrong with their data. */
export class LocationQuality extends Context.Service<
  LocationQuality,
  {
    list(request: Listing.ListRequest): Effect.Effect<QualityPage>
  }
>()("waypost/repositories/quality/LocationQuality") {
  static readonly layer = Layer.effect(
    LocationQuality,
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const columns = columnsOf(Quality, LocationMedia.computedOf(yield* PublicUrl))
      const records = "locations"
      const byScore = yield* Listing.make<Quality>({ table: tableOf(columns, "q"), records, columns })
      const byMember = yield* Listing.make<Quality>({ table: tableOf(columns, "l"), records, columns })

      const counts = Effect.orDie(
        Effect.map(
          pooled<{ readonly counts: Encoded<QualityCounts> }>`
            select coalesce(json_object_agg(rule, count) filter (where count > 0), '{}')::text as counts from (
              select substr(relation, ${prefix.length + 1}::int) as rule, sum(delta)::int as count from row_counts
              where relation = any (${qualityRules.map((rule) => prefix + rule)}::text[]) group by 1
            ) counted`,
          ([row]) => row!.counts
        )
      )

      return traced(LocationQuality, {
        list: Effect.fnUntraced(function* (request) {
          const sorted = { ...request, sortBy: request.sortBy ?? "score", sortOrder: request.sortOrder ?? "asc" }
          const listed = sorted.sortBy === "score" ? byScore : byMember
          const page = yield* listed.list(sorted, { scope: everyLocation })
          return { ...page, counts: yield* counts }
        })
      })
    })
  )
}

const prefix = "location_quality."

/**
 * The locations with what was found, as a table. The row that has the uuid is the one whose indexes give the order: `q` for that of the
 * scores, `l` for those of the locations.
 */
const tableOf = (columns: ReadonlyArray<Column>, sorted: "q" | "l") => {
  const names = columns.filter(isStored).map(({ member }) => Str.camelToSnake(member))
  const ofLocation = [...names, "has_media", "city", "country_code"].filter((name) => !own.has(name))
  return `(select ${sorted}.uuid, q.score, q.issues, ${ofLocation.map((name) => `l.${name}`).join(", ")}
    from location_quality q join locations l on l.uuid = q.uuid)`
}
const own: ReadonlySet<string> = new Set(["uuid", "score", "issues"])

/** The locations that were looked at; new ones follow within a minute. */
const everyLocation = {
  name: "quality",
  where: () => sql`true`,
  total: sql`select coalesce(sum(delta), 0)::int from row_counts where relation = 'location_quality'`,
  found: sql`true`
}
