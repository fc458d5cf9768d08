import type { Schema } from "effect"
import type { Condition } from "../domain/query/Filter.ts"
import { fieldsOf } from "../domain/query/FilterFields.ts"
import { conditionSql } from "./Conditions.ts"
import { Parameters } from "./Parameters.ts"
import { alias, collation, type Column, expressionOf, jsonOf, shownOf, withoutExtras } from "./Columns.ts"

/** A page of a list that knows what it wants. */
export interface Page {
  readonly limit: number
  readonly offset: number
  readonly sortBy: string
  readonly sortOrder: "asc" | "desc"
  readonly filter?: ReadonlyArray<Condition> | undefined
}

/** Records as one request sees them. Each part is SQL; its values are added to the parameters. */
export interface View {
  /** The columns of answers and filters, where they depend on the request. */
  readonly columns?: ReadonlyArray<Column>
  /** Extras that are answered. */
  readonly include?: ReadonlyArray<string> | undefined
  /** Other expressions of members of the answer. */
  readonly members?: (parameters: Parameters) => Readonly<Record<string, string>>
  /** What a name to sort by stands for here; never null. */
  readonly key?: (sortBy: string, parameters: Parameters) => string | undefined
  /** What narrows a list: other rows, one for each row `t`, and their expression of its uuid. */
  readonly source?: (parameters: Parameters) => Source
  /** What a list is within. */
  readonly scope?: Scope | undefined
}

export interface Source {
  readonly from: string
  readonly uuid: string
}

/** The records that belong to others. Each part is SQL; its values are added to the parameters. */
export interface Scope {
  /** What the scope is, in one text. */
  readonly name: string
  /** Whether the row belongs whose uuid this expression gives. */
  readonly where: (parameters: Parameters, uuid: string) => string
  /** How many belong. */
  readonly total: (parameters: Parameters) => string
  /** Whether the other record exists. */
  readonly found: (parameters: Parameters) => string
}

/** The parts of a statement that depend on what a request sees. */
interface ViewedColumns {
  readonly columns: ReadonlyArray<Column>
  readonly keyOf: (sortBy: string) => string
  /** The JSON array of the records of a page, from the statement that gives its uuids; null when it is too long. */
  readonly dataOf: (rows: string) => string
}

/** More than this the connection to the database does not carry in one message, and no client wants in one answer. */
const maxBytes = 15 * 1024 * 1024

const flip = { asc: "desc", desc: "asc" } as const

/**
 * The statements of lists: one gives the page and the exact total.
 *
 * - Unfiltered, the total is the sum of the delta rows that a trigger writes, so it costs the same at any size. The page
 *   is read off an index and joined back to its rows; past the middle the index is walked from the other end.
 * - Filtered, the matching keys are collected once; count and page are taken from them.
 * - Within a scope, the total is the scope's.
 */
export const make = (
  record: Schema.Top,
  options: {
    readonly table: string
    readonly columns: ReadonlyArray<Column>
    /** Members that are only answered when they are asked for. */
    readonly extras?: ReadonlyArray<string> | undefined
  }
) => {
  const { table } = options
  const fields = fieldsOf(record)
  const field = (path: string) => fields.find((candidate) => candidate.path === path)

  const sortKey = (columns: ReadonlyArray<Column>, sortBy: string) => {
    const { kind } = field(sortBy)!
    const sql = expressionOf(columns, field(sortBy)!)
    return kind === "string" || kind === "enum" ? `${sql} ${collation}` : sql
  }

  const seenAs = (view: View, parameters: Parameters): ViewedColumns => {
    const { columns = options.columns } = view
    const shown = shownOf(withoutExtras(columns, options.extras, view.include), view.members?.(parameters))
    const json = `(select ${jsonOf(shown)} from ${table} ${alias} where ${alias}.uuid = page.uuid)`
    const array = `'[' || coalesce(string_agg(${json}, ','), '') || ']'`
    return {
      columns,
      keyOf: (sortBy) => view.key?.(sortBy, parameters) ?? sortKey(columns, sortBy),
      dataOf: (rows) =>
        `(select case when octet_length(json) <= ${maxBytes} then json end from (select ${array} as json from (${rows}) page) whole)`
    }
  }

  /** Without a word on nulls where there are none: PostgreSQL would not see that its index serves either way. */
  const order = (sortBy: string, key: string, direction: "asc" | "desc", nulls: "first" | "last") =>
    `order by ${key} ${direction}${field(sortBy)?.optional === true ? ` nulls ${nulls}` : ""}, uuid ${direction}`

  const everyRow = `select coalesce(sum(delta), 0)::int from row_counts where relation = '${table}'`

  const unfiltered = (
    { dataOf, keyOf }: ViewedColumns,
    { limit: most, offset, sortBy, sortOrder }: Page,
    parameters: Parameters,
    scope: Scope | undefined,
    total: number
  ) => {
    const key = keyOf(sortBy)
    const from = `from ${table} ${alias}${scope === undefined ? "" : ` where ${scope.where(parameters, `${alias}.uuid`)}`}`
    const count = scope?.total(parameters) ?? everyRow
    const limit = parameters.add(most, "bigint")
    const skip = parameters.add(offset, "bigint")
    const forwards = offset * 2 <= total
    const rows = forwards
      ? `select uuid ${from} ${order(sortBy, key, sortOrder, "last")} limit ${limit} offset ${skip}`
      : `select uuid from (select uuid, row_number() over () as position from (
          select uuid ${from} ${order(sortBy, key, flip[sortOrder], "first")}
          limit greatest(least(${limit}, (table counted) - ${skip}), 0)
          offset greatest((table counted) - ${skip} - ${limit}, 0)
        ) backwards) numbered order by position desc`
    // Counted once, however often the statement needs it.
    return `with counted as materialized (${count})
      select ${scope?.found(parameters) ?? "true"} as found, (table counted) as total, ${dataOf(rows)} as data`
  }

  /** Joined from the left, because PostgreSQL then leaves the table alone when nothing else of it is asked for. */
  const rowsOf = (source: Source | undefined): Source =>
    source === undefined
      ? { from: `${table} ${alias}`, uuid: `${alias}.uuid` }
      : { ...source, from: `${source.from} left join ${table} ${alias} on ${alias}.uuid = ${source.uuid}` }

  const filtered = (
    { columns, dataOf, keyOf }: ViewedColumns,
    { filter = [], limit, offset, sortBy, sortOrder }: Page,
    parameters: Parameters,
    { scope, source }: View
  ) => {
    const { from, uuid } = rowsOf(source?.(parameters))
    const conditions = [
      ...(scope === undefined ? [] : [scope.where(parameters, uuid)]),
      ...filter.map((condition) => conditionSql(columns, field(condition.field)!, condition, parameters)),
      "true"
    ]
    const key = keyOf(sortBy)
    const rows = `select uuid from hits ${order(sortBy, "key", sortOrder, "last")}
        limit ${parameters.add(limit, "bigint")} offset ${parameters.add(offset, "bigint")}`
    return `with hits as materialized (
        select ${uuid} as uuid, ${key} as key from ${from} where ${conditions.join(" and ")})
      select ${scope?.found(parameters) ?? "true"} as found, (select count(*)::int from hits) as total, ${dataOf(rows)} as data`
  }

  /** The statement of a page and its values; `total` is what the list had when it was last counted. */
  return (page: Page, view: View, total: number) => {
    const parameters = new Parameters()
    const seen = seenAs(view, parameters)
    const text =
      page.filter === undefined && view.source === undefined
        ? unfiltered(seen, page, parameters, view.scope, total)
        : filtered(seen, page, parameters, view)
    return { text, values: parameters.values }
  }
}
