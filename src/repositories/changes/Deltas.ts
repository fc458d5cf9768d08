import { Context, Effect, Layer } from "effect"
import type { ManagedType } from "../../domain/changes/RecordType.ts"
import type { RecordType } from "../../domain/changes/RecordType.ts"
import { Locales } from "../../domain/schema/Locale.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { maxLogBytes, maxSmallBytes } from "../../sql/lists/AnswerSizes.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"
import { affectedSql } from "./AffectedRecords.ts"
import { make as mirroredRecords } from "./MirroredRecords.ts"
import { recordTables } from "./RecordTables.ts"
import type { Encoded } from "../../domain/schema/Encoded.ts"

/**
 * How far a mirror has read: all records in the order of their uuids, and then one part of the log after the other, each
 * again in the order of the uuids that it affects. `position` is where the part begins, and where the changes begin of
 * which the records were read without; `stop` is its end, once its first page was read.
 */
export interface Place {
  readonly isWhole: boolean
  readonly position: number
  readonly stop?: number | undefined
  /** The last uuid of the part that was read. */
  readonly last?: string | undefined
}

export interface DeltaRequest {
  readonly type: ManagedType
  /** The begin unless given. */
  readonly place?: Place | undefined
  readonly limit: number
  /** The types that the reader sees. */
  readonly visible: ReadonlySet<RecordType>
}

export interface DeltaPage {
  readonly data: Encoded<ReadonlyArray<unknown>>
  readonly next: Place
  readonly more: boolean
  /** The last position that any change can have of which the records were read with. */
  readonly horizon: number
  /** The last position that was pruned. */
  readonly pruned: number
}

/** What keeps a copy of the records of a type up to date, read from the log and the records as they are. */
export class Deltas extends Context.Service<Deltas, { page(request: DeltaRequest): Effect.Effect<DeltaPage> }>()(
  "waypost/repositories/changes/Deltas"
) {
  static readonly layer = Layer.effect(
    Deltas,
    Effect.gen(function* () {
      const { largePages, search } = yield* Sql
      const records = mirroredRecords(yield* PublicUrl, yield* Locales)

      const page = Effect.fnUntraced(function* (request: DeltaRequest) {
        const { place, type, visible } = request
        const parts = { ...request, table: recordTables[type], json: records[type](visible) }
        const read = (maxBytes: number, maxFirstBytes?: number) =>
          search((client) => client<Row>`${pageSql({ ...parts, maxBytes, maxFirstBytes })}`.unprepared)
        // Only a page that has more bytes, if only in its first record, takes its turn among the large ones.
        const [small] = yield* read(maxSmallBytes, maxSmallBytes)
        const [row] = small!.isFull ? yield* largePages(read(maxLogBytes)) : [small]
        const { cut, data, head, horizon, last, position, pruned, stop } = row!
        const isWhole = place?.isWhole ?? true
        const behind = isWhole ? position : stop
        const next = cut
          ? { isWhole, position, stop: isWhole ? undefined : stop, last }
          : { isWhole: false, position: behind }
        return { data, next, more: cut || behind < head, horizon, pruned }
      }, Effect.orDie)

      return traced(Deltas, { page })
    })
  )
}

interface Row {
  readonly data: Encoded<ReadonlyArray<unknown>>
  /** Whether the part has more records than the page. */
  readonly cut: boolean
  /** Whether it has fewer than it may have, because of their bytes. */
  readonly isFull: boolean
  readonly last: string
  readonly position: number
  readonly stop: number
  readonly head: number
  readonly horizon: number
  readonly pruned: number
}

/** Positions that one part of the log has at most. */
const span = 5000

const nil = "00000000-0000-0000-0000-000000000000"

/**
 * The statement of a page. It reads the end of the log, the affected uuids and the records at one moment. Records are read
 * one after the other, so that no more are than the page takes.
 *
 * A change that is committed but not sealed shows in the records before it has a position: `horizon` counts those changes.
 *
 * A replica that is behind the one of the page before lacks changes behind the end of its log, which is then where the part of the
 * log begins.
 */
const pageSql = ({
  json,
  limit,
  maxBytes,
  maxFirstBytes = null,
  place,
  table,
  type,
  visible
}: DeltaRequest & {
  readonly table: string
  readonly json: Fragment
  readonly maxBytes: number
  /** Any number unless given. */
  readonly maxFirstBytes?: number | null | undefined
}): Fragment => {
  const { isWhole, last = nil, position, stop } = place ?? { isWhole: true, position: undefined }
  const wanted = { last, limit: limit + 1, visible }
  const source = sql.literal(table)
  const affected =
    isWhole || position === undefined
      ? sql`affected as materialized (
          select uuid from ${source} where uuid > ${last}::uuid order by uuid limit ${wanted.limit}::bigint)`
      : affectedSql(type, position, sql`(select stop from part)`, span, wanted)
  return sql`
    with recursive part as materialized (
      select position as head, pruned_position as pruned, position + (select count(*) from pending_changes) as horizon,
        least(coalesce(${position ?? null}::bigint, position), position) as begin,
        least(position, coalesce(${stop ?? null}::bigint, ${(position ?? 0) + span}::bigint)) as stop
      from event_log
    ), ${affected}, listed as materialized (
      select coalesce(array_agg(uuid order by uuid), '{}') as uuids from affected
    ), page as (
      select 0 as place, null::uuid as uuid, null::text as item, 0::bigint as bytes
      union all
      select p.place + 1, r.uuid, r.item, p.bytes + octet_length(r.item)
      from page p, listed l, lateral (
        select l.uuids[p.place + 1] as uuid, '{"uuid":"' || l.uuids[p.place + 1] || coalesce(
          '","record":' || (select ${json} from ${source} t where t.uuid = l.uuids[p.place + 1]), '","deleted":true') || '}' as item
        offset 0
      ) r where p.place < least(cardinality(l.uuids), ${limit}::int) and p.bytes < ${maxBytes}::bigint
    ), taken as materialized (
      select * from page where (place > 0 and bytes <= ${maxBytes}::bigint)
        or (place = 1 and bytes <= coalesce(${maxFirstBytes}::bigint, bytes))
    ) select '[' || coalesce((select string_agg(item, ',' order by place) from taken), '') || ']' as data,
      (select count(*) from taken) < cardinality(uuids) as cut,
      (select count(*) from taken) < least(cardinality(uuids), ${limit}::int) as "isFull",
      (select uuid::text from taken order by place desc limit 1) as last,
      begin::float8 as position, stop::float8 as stop, head::float8 as head, horizon::float8 as horizon,
      pruned::float8 as pruned
    from part, listed`
}
