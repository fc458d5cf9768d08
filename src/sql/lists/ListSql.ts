import { memoize } from "effect/Function"
import { collation, expressionOf, row, timestampJson } from "../Columns.ts"
import { conditionSql } from "../Conditions.ts"
import * as Edits from "../Edits.ts"
import { type Fragment, sql } from "../Fragment.ts"
import { arrayOf, oneByOne, withinAnswer } from "./AnswerSizes.ts"
import { flip, limitSql, offsetSql, ordered, rangeOf, read, type Sorted } from "./ListOrder.ts"
import { type SortKind, types } from "./Keyset.ts"
import { answerOf, type Answers } from "../Selected.ts"
import { isNarrowed, isPlain, type Page, type Scope, type Source, type View } from "../View.ts"

const whole = sql.literal("true")

/** Whether the list exists, and which set of records it is a list of. */
const contextOf = (scope: Scope | undefined) =>
  sql`${scope?.found ?? whole} as found, (${scope?.setTag ?? sql`null`})::text as "setTag"`

export interface ListOptions extends Answers {
  /** The table, or an expression of one. */
  readonly table: string
  /** The table of the records, if `table` is an expression that has some of them. */
  readonly records?: string
}

/**
 * The statements of lists: one gives the page and the exact total.
 *
 * - Unfiltered, the total is the sum of the delta rows that a trigger writes, so it costs the same at any size. The page
 *   is read off an index and joined back to its rows; past the middle the index is walked from the other end.
 * - Filtered, the matching keys are collected once; count and page are taken from them.
 * - Within a scope, the total is the scope's.
 */
export const make = (options: ListOptions) => {
  const { columns } = options
  const table = sql.literal(`${options.table} t`)
  const edits = Edits.of(options.records ?? options.table)
  const fields = new Map(columns.flatMap((column) => column.fields.map((field) => [field.path, field])))
  const own = new Map(columns.map((column) => [column.member, column]))
  /** The column of the field at a path. */
  const columnOf = ({ columns }: View, path: string) => {
    const first = path.split(".", 1)[0]!
    const column = (columns === undefined ? own.get(first) : columns.find(({ member }) => member === first))!
    return first === Edits.member ? { ...column, condition: edits.condition } : column
  }

  const plain = answerOf(options, {})
  const jsonIn = memoize((view: View) => (isPlain(view) ? plain : answerOf(options, view)))

  /** The JSON array of the records of a page, from the statement that gives its uuids; null when it is too long. */
  const dataOf = (view: View, rows: Fragment, { isLarge = false }: Page) =>
    isLarge
      ? oneByOne(
          sql`select array_agg(uuid) as keys from (${rows}) page`,
          (uuid) => sql`select ${jsonIn(view)} from ${table} where t.uuid = ${uuid}`
        )
      : withinAnswer(sql`
          select ${arrayOf(sql`(select ${jsonIn(view)} from ${table} where t.uuid = page.uuid), ','`)} as json from (${rows}) page`)

  const keyOf = (view: View, sortBy: string): Fragment => {
    const own = view.order?.(sortBy)
    if (own !== undefined) return own.key
    const field = fields.get(sortBy)!
    const expression = expressionOf(columnOf(view, sortBy), field)
    return field.kind === "string" || field.kind === "enum" ? sql`${expression} ${collation}` : expression
  }

  /** The kind of the values by which a list is sorted: text, where a view has an order of its own without one. */
  const kindOf = (sortBy: string, { order }: View = {}): SortKind => {
    const kind = fields.get(sortBy)?.kind
    return order?.(sortBy)?.kind ?? (kind === "number" ? "integer" : (kind ?? "string"))
  }

  const everyRow = sql.literal(
    `select coalesce(sum(delta), 0)::int from row_counts where relation = '${options.table}'`
  )

  const unfiltered = (page: Page, view: View, total: number) => {
    const { limit, offset, sortBy, sortOrder } = page
    const { scope } = view
    const sorted = inOrder(sortBy, view)
    const where = scope === undefined ? [] : [scope.where(sorted.uuid)]
    const rows =
      offset * 2 <= total
        ? sql`select uuid from (${ordered(sorted, { direction: sortOrder, nulls: "last" }, where, rangeOf(limit, offset))}) forwards`
        : sql`select uuid from (select uuid, row_number() over () as position from (${ordered(
            sorted,
            { direction: flip[sortOrder], nulls: "first" },
            where,
            {
              limit: sql`limit greatest(least(${limit}::bigint, (table counted) - ${offset}::bigint), 0)`,
              offset: sql`offset greatest((table counted) - ${offset}::bigint - ${limit}::bigint, 0)`,
              end: sql`limit greatest((table counted) - ${offset}::bigint, 0)`
            }
          )}) backwards) numbered order by position desc`
    // Counted once, however often the statement needs it.
    return sql`with counted as materialized (${scope?.total ?? everyRow})
      select ${contextOf(scope)}, (table counted) as total, ${dataOf(view, rows, page)} as data`
  }

  /** Joined from the left, because PostgreSQL then leaves the table alone when no other column of it is needed. */
  const rowsOf = (source: Source | undefined): Source =>
    source === undefined
      ? { from: table, uuid: row("uuid") }
      : { ...source, from: sql`${source.from} left join ${table} on t.uuid = ${source.uuid}` }

  /** The rows of a list that an index gives in the order of a field, and the expression of its value. */
  const inOrder = (sortBy: string, view: View): Sorted => {
    const own = view.order?.(sortBy)
    const isOptional = own === undefined && fields.get(sortBy)?.optional === true
    if (sortBy !== Edits.member || view.source !== undefined || own !== undefined) {
      return { ...rowsOf(view.source), key: keyOf(view, sortBy), isOptional, walk: own?.walk }
    }
    const { at: key, from, uuid } = edits
    return options.records === undefined
      ? { ...rowsOf(edits), key, isOptional }
      : { from: sql`${from} join ${table} on ${row("uuid")} = ${uuid}`, uuid, key, isOptional }
  }

  const whereOf = (
    { filter = [], isPlannedOnce = false }: Pick<Page, "filter" | "isPlannedOnce">,
    view: View,
    uuid: Fragment
  ): ReadonlyArray<Fragment> => {
    const { scope, where } = view
    const conditions = filter.map((condition) => {
      const keyed = view.keyed?.find(({ member }) => member === condition.field)
      const field = keyed?.fields[0] ?? fields.get(condition.field)
      const column = keyed ?? columnOf(view, condition.field)
      // Rows of other tables are found by very different plans, so that one has to know how many match.
      const isUnknown = isPlannedOnce && column.condition === undefined
      return conditionSql(column, field, { ...condition, isUnknown })
    })
    return [...(scope === undefined ? [] : [scope.where(uuid)]), ...(where === undefined ? [] : [where]), ...conditions]
  }

  const filtered = (page: Page, view: View) => {
    const { limit, offset, sortBy, sortOrder } = page
    const { scope, source } = view
    const { from, uuid } = rowsOf(source)
    const rows = sql`select uuid from hits order by key ${sql.literal(`${sortOrder} nulls last, uuid ${sortOrder}`)}
        ${limitSql(limit)} ${offsetSql(offset)}`
    return sql`with hits as materialized (
        select ${uuid} as uuid, ${keyOf(view, sortBy)} as key from ${from}
        where ${sql.and([whole, ...whereOf(page, view, uuid)])})
      select ${contextOf(scope)}, (select count(*)::int from hits) as total, ${dataOf(view, rows, page)} as data`
  }

  /** One row more than a page has, so that one sees whether another follows. */
  const onward = (page: Page, view: View) => {
    const { after, limit, offset, sortBy, sortOrder } = page
    const sorted = inOrder(sortBy, view)
    const { isOptional, key, uuid } = sorted
    const conditions = whereOf(page, view, uuid)
    const range = rangeOf(limit, offset, 1)
    if (after === undefined || after === "start") {
      return ordered(sorted, { direction: sortOrder, nulls: "last" }, conditions, range)
    }
    const part = (...more: ReadonlyArray<Fragment>) => read(sorted, sortOrder, [...conditions, ...more], range)
    const behind = sql.literal(sortOrder === "asc" ? ">" : "<")
    const isMissing = sql`(${key}) is null`
    if (after.key === null) return part(isMissing, sql`${uuid} ${behind} ${after.uuid}::uuid`)
    const rest = part(
      sql`(${key}, ${uuid}) ${behind} (${after.key}::${types[kindOf(sortBy, view)]}, ${after.uuid}::uuid)`
    )
    // Two walks along the index; the second begins where the first has ended.
    return isOptional ? sql`${rest} union all ${part(isMissing)}` : rest
  }

  /** A page that begins behind a record, or whose records are not counted. */
  const uncounted = (page: Page, view: View) => {
    const { isCounted, limit, sortBy } = page
    const key = kindOf(sortBy, view) === "date" ? timestampJson(sql.literal("key")) : sql.literal("key::text")
    const { from, uuid } = rowsOf(view.source)
    const isWhole = !isNarrowed(page, view)
    const total = isWhole
      ? sql`(${view.scope?.total ?? everyRow})`
      : sql`(select count(*)::int from ${from} where ${sql.and([whole, ...whereOf(page, view, uuid)])})`
    return sql`with page as materialized (
        select uuid, ${key} as key, row_number() over () as position from (${onward(page, view)}) ordered
          ${limitSql(limit, 1)})
      select ${contextOf(view.scope)}, ${isCounted ? total : sql`null`} as total,
        ${dataOf(view, sql`select uuid from page where position <= ${limit}::bigint order by position`, page)} as data,
        (select json_build_object('key', key, 'uuid', uuid) from page
          where position = ${limit}::bigint and exists (select from page where position > ${limit}::bigint)) as last`
  }

  return {
    /** The statement of a page; `total` is the total of the list when it was last counted. */
    page: (page: Page, view: View, total: number): Fragment => {
      if (!page.isCounted || page.after !== undefined || view.isWalked === true) {
        return uncounted({ ...page, isPlannedOnce: false }, view)
      }
      return isNarrowed(page, view) ? filtered(page, view) : unfiltered(page, view, total)
    },
    kindOf
  }
}
