import { Effect, Option, type Schema } from "effect"
import type { Encoded, EncodedPage } from "../domain/Encoded.ts"
import type { Condition } from "../domain/Filter.ts"
import { fieldsOf } from "../domain/FilterFields.ts"
import { defaults, pagination } from "../domain/Pagination.ts"
import { InvalidRequestError } from "../domain/RequestErrors.ts"
import { conditionSql, Parameters } from "./Conditions.ts"
import { alias, collation, type Column, expressionOf, jsonOf, shownOf, withoutExtras } from "./RecordSql.ts"
import { Sql } from "./Sql.ts"

/** A list that knows what it wants. */
interface Listing {
  readonly limit: number
  readonly page: number
  readonly sortBy: string
  readonly sortOrder: "asc" | "desc"
}

/**
 * Whether the plan for any value suits this one. It does for patterns that an index of trigrams serves, from three
 * characters on; not for the few or the many that are before, after or equal to a value of which there are only some.
 */
const suitsAny = ({ operator, value }: Condition) =>
  typeof value === "string" && value.length > 2 && ["contains", "startsWith", "endsWith"].includes(operator)

/** What a list asks for, as `ListQuery` decodes it. */
export type ListRequest = { readonly [K in keyof Listing]?: Listing[K] | undefined } & {
  readonly filter?: ReadonlyArray<Condition> | undefined
  /** Members that are only answered when they are asked for. */
  readonly include?: ReadonlyArray<string> | undefined
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
interface Seen {
  readonly columns: ReadonlyArray<Column>
  readonly keyOf: (sortBy: string) => string
  /** The JSON array of the records of a page, from the statement that gives its uuids; null when it is too long. */
  readonly dataOf: (rows: string) => string
}

/** More than this the connection to the database does not carry in one message, and no client wants in one answer. */
const maxBytes = 15 * 1024 * 1024

const tooMuch = (limit: number) =>
  InvalidRequestError.of([
    {
      in: "query",
      path: "limit",
      code: "tooMuch",
      message: `A page of ${limit} of these records has more than 15 MiB; ask for fewer at a time`
    }
  ])

/** Further back than this an unfiltered page leaves the pool of the bounded reads. */
const boundedOffset = 1000

/** How many totals are remembered. */
const mostTotals = 1000

const flip = { asc: "desc", desc: "asc" } as const

/**
 * The only list implementation: one statement gives the page and the exact total.
 *
 * - Unfiltered, the total is the sum of the delta rows that a trigger writes, so it costs the same at any size. The page
 *   is read off an index and joined back to its rows; past the middle the index is walked from the other end.
 * - Filtered, the matching keys are collected once; count and page are taken from them.
 * - Within a scope, the total is the scope's, and the plan is made for the record it belongs to.
 */
export const make = Effect.fnUntraced(function* <A>(
  record: Schema.Codec<A, unknown>,
  options: {
    readonly table: string
    readonly columns: ReadonlyArray<Column>
    /** Members that are only answered when they are asked for. */
    readonly extras?: ReadonlyArray<string> | undefined
  }
) {
  const { bounded, ordinary } = yield* Sql
  const { table } = options
  const fields = fieldsOf(record)
  const field = (path: string) => fields.find((candidate) => candidate.path === path)
  /** Only hints for the direction of the walk, by scope: the statement is right whatever they say. */
  const lastTotals = new Map<string, number>()
  const noteTotal = (scope: string, total: number) => {
    if (lastTotals.size >= mostTotals) lastTotals.clear()
    lastTotals.set(scope, total)
  }

  const sortKey = (columns: ReadonlyArray<Column>, sortBy: string) => {
    const { kind } = field(sortBy)!
    const sql = expressionOf(columns, field(sortBy)!)
    return kind === "string" || kind === "enum" ? `${sql} ${collation}` : sql
  }

  const seenAs = (view: View, parameters: Parameters): Seen => {
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
    { dataOf, keyOf }: Seen,
    request: Listing,
    offset: number,
    parameters: Parameters,
    scope: Scope | undefined,
    total: number
  ) => {
    const key = keyOf(request.sortBy)
    const from = `from ${table} ${alias}${scope === undefined ? "" : ` where ${scope.where(parameters, `${alias}.uuid`)}`}`
    const count = scope?.total(parameters) ?? everyRow
    const limit = parameters.add(request.limit, "bigint")
    const skip = parameters.add(offset, "bigint")
    const forwards = offset * 2 <= total
    const rows = forwards
      ? `select uuid ${from} ${order(request.sortBy, key, request.sortOrder, "last")} limit ${limit} offset ${skip}`
      : `select uuid from (select uuid, row_number() over () as position from (
          select uuid ${from} ${order(request.sortBy, key, flip[request.sortOrder], "first")}
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
    { columns, dataOf, keyOf }: Seen,
    request: Listing,
    offset: number,
    parameters: Parameters,
    scope: Scope | undefined,
    { filter = [] }: ListRequest,
    view: View
  ) => {
    const { from, uuid } = rowsOf(view.source?.(parameters))
    const conditions = [
      ...(scope === undefined ? [] : [scope.where(parameters, uuid)]),
      ...filter.map((condition) => conditionSql(columns, field(condition.field)!, condition, parameters)),
      "true"
    ]
    const key = keyOf(request.sortBy)
    const rows = `select uuid from hits ${order(request.sortBy, "key", request.sortOrder, "last")}
        limit ${parameters.add(request.limit, "bigint")} offset ${parameters.add(offset, "bigint")}`
    return `with hits as materialized (
        select ${uuid} as uuid, ${key} as key from ${from} where ${conditions.join(" and ")})
      select ${scope?.found(parameters) ?? "true"} as found, (select count(*)::int from hits) as total, ${dataOf(rows)} as data`
  }

  const read = Effect.fnUntraced(function* (request: ListRequest, view: View = {}) {
    const { scope } = view
    const {
      filter,
      limit = defaults.limit,
      page = defaults.page,
      sortBy = defaults.sortBy,
      sortOrder = defaults.sortOrder
    } = request
    const listing = { limit, page, sortBy, sortOrder }
    const parameters = new Parameters()
    const seen = seenAs({ include: request.include, ...view }, parameters)
    // Past this no number is exact, and no table that long.
    const offset = Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER)
    const isNarrowed = filter !== undefined || view.source !== undefined
    const isWhole = !isNarrowed && scope === undefined
    const text = isNarrowed
      ? filtered(seen, listing, offset, parameters, scope, request, view)
      : unfiltered(seen, listing, offset, parameters, scope, lastTotals.get(scope?.name ?? "") ?? Infinity)
    // Seen with other expressions, a list may be sorted by what no index has.
    const isIndexed = isWhole && view.members === undefined
    const client = isIndexed && offset <= boundedOffset ? bounded : ordinary
    const statement = client.unsafe<{ readonly found: boolean; readonly total: number; readonly data: string | null }>(
      text,
      parameters.values
    )
    const planEach = scope !== undefined || view.source !== undefined || filter?.every(suitsAny) === false
    const [row] = yield* Effect.orDie(planEach ? statement.unprepared : statement)
    const { data, found, total } = row!
    if (data === null) return yield* Effect.die(tooMuch(limit))
    if (!isNarrowed) noteTotal(scope?.name ?? "", total)
    const answer: EncodedPage<A> = {
      data: data as Encoded<ReadonlyArray<A>>,
      pagination: pagination(limit, page, total)
    }
    return found ? Option.some(answer) : Option.none()
  })

  return {
    /** A page of all records, or of those a view leaves. */
    list: (request: ListRequest, view?: View): Effect.Effect<EncodedPage<A>> =>
      Effect.map(read(request, view), Option.getOrThrow),
    /** A page of the records that belong to another one, if that exists. */
    listWithin: (scope: Scope, request: ListRequest): Effect.Effect<Option.Option<EncodedPage<A>>> =>
      read(request, { scope })
  }
})
