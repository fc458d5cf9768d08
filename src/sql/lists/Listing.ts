import { Effect, Option } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import type { Condition } from "../../domain/query/FilterConditions.ts"
import { countedPages, defaults, type Pagination } from "../../domain/query/Pagination.ts"
import { isDefault, type Selection } from "../../domain/query/Selection.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import * as Keyset from "./Keyset.ts"
import { maxAnswerBytes } from "./AnswerSizes.ts"
import * as ListSql from "./ListSql.ts"
import * as PageCost from "./PageCost.ts"
import { isNarrowed, type Scope, type View } from "../View.ts"
import * as Selected from "../Selected.ts"
import { Sql } from "../Sql.ts"
import { isTooSlow } from "../SqlErrors.ts"

/** What a list asks for, as `ListQuery` decodes it. */
export interface ListRequest extends Selection {
  readonly limit?: number | undefined
  readonly page?: number | undefined
  /** Instead of `page`: the cursor behind which the page begins; the start if it is empty. */
  readonly after?: string | undefined
  /** Whether the records are counted; by default with `page`, and not with `after`. */
  readonly total?: boolean | undefined
  readonly sortBy?: string | undefined
  readonly sortOrder?: "asc" | "desc" | undefined
  readonly filter?: ReadonlyArray<Condition> | undefined
}

/**
 * Whether the plan for any value suits this one. It does for patterns that an index of trigrams serves, from three
 * characters on; not for the few or the many that are before, after or equal to a value of which there are only some.
 */
const suitsAny = ({ not, operator, value }: Condition) =>
  not !== true &&
  typeof value === "string" &&
  value.length > 2 &&
  ["contains", "startsWith", "endsWith"].includes(operator)

/** The records of a page have more bytes than an answer. */
export const tooMuch = (limit: number, mebibytes = maxAnswerBytes / 1024 ** 2) =>
  InvalidRequestError.at(
    "query",
    "limit",
    "tooMuch",
    `A page of ${limit} of these records has more than ${mebibytes} MiB; ask for fewer at a time`
  )

/** Further back than this an unfiltered page leaves the pipelined pool. */
const boundedOffset = 1000

interface Row<A> {
  readonly found: boolean
  readonly total: number | null
  readonly setTag: string | null
  readonly data: Encoded<ReadonlyArray<A>> | null
  /** The last record of a page that is followed by another, if the statement looks for that. */
  readonly last?: Keyset.Place | null
}

/** How many totals are remembered. */
const maxTotals = 1000

/** Parameters that choose a page of a list, and not the list. */
const paging: ReadonlySet<string> = new Set([
  "limit",
  "page",
  "after",
  "total",
  "fields",
  "include",
  "sortBy",
  "sortOrder"
])

/** What is asked of a list, but for its order and page. */
const entriesOf = (request: ListRequest) =>
  Object.entries(request)
    .filter(([name, value]) => !paging.has(name) && value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))

/** What identifies the list of which a cursor is. */
const listOf = (table: string, request: ListRequest, { scope, source }: View) => {
  const { sortBy = defaults.sortBy, sortOrder = defaults.sortOrder } = request
  const rows = source?.name === undefined ? [] : [source.name]
  return [table, scope?.name, sortBy, sortOrder, entriesOf(request), ...rows]
}

/** The view with the rows of the cursor. */
const continued = (table: string, request: ListRequest, view: View): View => {
  const { after = "" } = request
  if (view.fallback === undefined || after === "") return view
  const other = { ...view, source: view.fallback }
  return Keyset.isOf(after, listOf(table, request, other)) ? other : view
}

/** Where a page stands; `next` is the cursor behind it if another page follows. */
const paginationOf = (
  { after, total: asked = after === undefined }: ListRequest,
  limit: number,
  page: number,
  total: number | null,
  next: string | null
): Pagination => {
  const counted = asked && total !== null ? countedPages(limit, total) : {}
  if (after !== undefined) return { limit, ...counted, ...(next === null ? {} : { next }) }
  return asked ? { limit, page, ...counted } : { limit, page, more: next !== null }
}

/** The only list implementation: one statement gives the page and the exact total. */
export const make = Effect.fnUntraced(function* <A>(options: ListSql.ListOptions) {
  const { cheapPage, isPreparing, largePages, pooled, search } = yield* Sql
  const statements = ListSql.make(options)
  const isPrepared = Selected.makePrepared()
  /** Only hints for the direction of the walk, by scope: the statement is right whatever they say. */
  const lastTotals = new Map<string, number>()
  const plainCost = PageCost.make()
  /** Of pages with members that are only answered when they are asked for. */
  const includingCost = PageCost.make()
  const noteTotal = (scope: string, total: number) => {
    if (lastTotals.size >= maxTotals) lastTotals.clear()
    lastTotals.set(scope, total)
  }

  /** Where a page begins that has no number; ends the request if the cursor is not one of this list. */
  const placeOf = Effect.fnUntraced(function* (request: ListRequest, view: View, sortBy: string, list: unknown) {
    yield* Keyset.check(request)
    const { after } = request
    if (after === undefined) return undefined
    if (after === "") return "start" as const
    const place = Keyset.decode(after, list, statements.kindOf(sortBy, view))
    return "issues" in place ? yield* Effect.die(place) : place
  })

  const read = Effect.fnUntraced(function* (request: ListRequest, given: View = {}) {
    const view = continued(options.table, request, given)
    const { scope } = view
    const {
      after: cursor,
      filter,
      limit = defaults.limit,
      page = defaults.page,
      sortBy = defaults.sortBy,
      sortOrder = defaults.sortOrder,
      total: isCounted = cursor === undefined
    } = request
    const list = listOf(options.table, request, view)
    const after = yield* placeOf(request, view, sortBy, list)
    // Past this no number is exact, and no table that long.
    const offset = cursor === undefined ? Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER) : 0
    const lastTotal = lastTotals.get(scope?.name ?? "") ?? Infinity
    const { fields, include } = request
    const seen = isDefault(request) ? view : { fields, include, ...view }
    const isWhole = !isNarrowed(request, view)
    // Seen with other expressions, a list may be sorted by what no index has, and a record may take long to read.
    const isPlain = view.members === undefined && view.columns === undefined
    const isIndexed = isWhole && scope === undefined && isPlain
    const cost = include === undefined ? plainCost : includingCost
    const isLarge = cost.isLarge(limit)
    const isCheap = isIndexed && include === undefined && offset <= boundedOffset && cost.isCheap(limit)
    const isPart = scope !== undefined || view.source !== undefined || view.where !== undefined
    // A part of the list is planned for the record it belongs to, unless its plan is the same for all of them.
    const planEach =
      (isPart && (scope?.isPlannedOnce !== true || filter !== undefined)) ||
      view.keyed !== undefined ||
      filter?.every(suitsAny) === false ||
      !isPrepared(request)
    const isPlannedOnce = isPreparing && !planEach
    const asked = { limit, offset, sortBy, sortOrder, filter, after, isCounted, isPlannedOnce, isLarge }
    const die = (error: SqlError.SqlError) => {
      // No filter, no scope and no distance from the beginning made it slow.
      if (isIndexed && offset <= boundedOffset && isTooSlow(error)) cost.noteSlow(limit)
      return Effect.die(error)
    }
    const run = (client: SqlClient.SqlClient) => {
      const statement = client<Row<A>>`${statements.page(asked, seen, lastTotal)}`
      return Effect.catch(planEach ? statement.unprepared : statement, die)
    }
    // The records that belong to those of a page are many times as many.
    const isLong =
      !isWhole || view.isLong === true || include?.some((name) => options.related?.[name] !== undefined) === true
    const rows = isLong ? search(run) : isCheap ? cheapPage(run) : run(pooled)
    const [row] = yield* isLarge ? largePages(rows) : rows
    const { data, found, last = null, setTag, total } = row!
    if (data === null) {
      cost.note(maxAnswerBytes, limit, { isAtLeast: true })
      return yield* Effect.die(tooMuch(limit))
    }
    if (isWhole && total !== null) noteTotal(scope?.name ?? "", total)
    const rowsIn = last !== null ? limit : total !== null && cursor === undefined ? Math.min(limit, total - offset) : 0
    if (rowsIn > 0) cost.note(data.length, rowsIn, { isAtLeast: fields !== undefined })
    const answer: EncodedPage<A> = {
      data,
      pagination: paginationOf(request, limit, page, total, last && Keyset.encode(last, list)),
      ...(setTag === null || !isDefault(request) ? {} : { setTag })
    }
    return found ? Option.some(answer) : Option.none()
  })

  return {
    /** A page of all records, or of those a view leaves. */
    list: (request: ListRequest, view?: View): Effect.Effect<EncodedPage<A>> =>
      Effect.map(read(request, view), Option.getOrThrow),
    /** A page of the records that belong to another one, if that exists; a view can narrow or show them further. */
    listWithin: (scope: Scope, request: ListRequest, view: View = {}): Effect.Effect<Option.Option<EncodedPage<A>>> =>
      read(request, { ...view, scope })
  }
})
