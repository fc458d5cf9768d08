import { Context, Effect, Layer, Option } from "effect"
import type { RecordUsage, UsageCounts } from "../../domain/access/Usage.ts"
import { managedTypes } from "../../domain/changes/RecordType.ts"
import { defaults, pagination } from "../../domain/query/Pagination.ts"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import { sql } from "../../sql/Fragment.ts"
import { arrayOf } from "../../sql/lists/AnswerSizes.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"
import { labelSql, recordTables } from "../changes/RecordTables.ts"
import { type UsedType, usagesSql } from "./References.ts"

export interface UsageRequest {
  readonly limit?: number | undefined
  readonly page?: number | undefined
  /** The types that the key may read; the others are only counted. */
  readonly visible: ReadonlySet<string>
}

export interface UsagePage extends EncodedPage<RecordUsage> {
  readonly counts: Encoded<UsageCounts>
}

interface Row {
  readonly found: boolean
  readonly total: number
  readonly counts: Encoded<UsageCounts>
  readonly data: UsagePage["data"]
}

/** The records that refer to another one, found by the references that the fields declare. */
export class Usages extends Context.Service<
  Usages,
  {
    /** A page of the usages of a record, if it exists. */
    list(type: UsedType, uuid: string, request: UsageRequest): Effect.Effect<Option.Option<UsagePage>>
  }
>()("waypost/repositories/access/Usages") {
  static readonly layer = Layer.effect(
    Usages,
    Effect.gen(function* () {
      const { search } = yield* Sql
      return traced(Usages, {
        list: Effect.fnUntraced(function* (type, uuid, { limit = defaults.limit, page = defaults.page, visible }) {
          const offset = Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER)
          const statement = pageSql(type, uuid, { limit, offset, visible })
          const [row] = yield* search((pool) => Effect.orDie(pool<Row>`${statement}`.unprepared))
          const { counts, data, found, total } = row!
          return found ? Option.some({ data, counts, pagination: pagination(limit, page, total) }) : Option.none()
        })
      })
    })
  )
}

interface Asked {
  readonly limit: number
  readonly offset: number
  readonly visible: ReadonlySet<string>
}

const labels = managedTypes.map((type) => sql`when ${type}::text then ${labelSql(type, sql`page.uuid`)}`)

/** The page and the counts. The labels are looked up for the records of the page only. */
const pageSql = (type: UsedType, uuid: string, { limit, offset, visible }: Asked) => sql`
  with used as materialized (${usagesSql(type, sql`${uuid}::uuid`)}),
    counted as (select type, count(*)::int as count from used group by type),
    page as (select * from used where type = any (${[...visible]}::text[])
      order by type, uuid, path limit ${limit}::bigint offset ${offset}::bigint)
  select exists (select from ${sql.literal(recordTables[type])} where uuid = ${uuid}::uuid) as found,
    (select coalesce(json_object_agg(type, count order by type), '{}')::text from counted) as counts,
    (select coalesce(sum(count), 0)::int from counted where type = any (${[...visible]}::text[])) as total,
    (select ${arrayOf(sql`json_strip_nulls(json_build_object('type', type, 'uuid', uuid,
      'label', case type ${sql.join(" ", false)(labels)} end, 'path', path))::text, ',' order by type, uuid, path`)}
      from page) as data`
