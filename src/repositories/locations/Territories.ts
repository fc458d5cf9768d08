import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import type { Point } from "../../domain/locations/Area.ts"
import type { CodeRange, ServingLocation, TerritoryConflict, TerritoryGap } from "../../domain/locations/Territory.ts"
import { defaults, pagination } from "../../domain/query/Pagination.ts"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { tooMuch } from "../../sql/lists/Listing.ts"
import { maxAnswerBytes } from "../../sql/lists/AnswerSizes.ts"
import * as PageCost from "../../sql/lists/PageCost.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"
import { addressedSql, conflictsSql, gapsSql, listedSql, nearestSql } from "./TerritorySql.ts"

interface ServingRequest {
  /** In upper case, without spaces and hyphens. */
  readonly postalCode: string
  readonly countryCode?: string | undefined
  /** A place, whose nearest locations come first of those that match alike. */
  readonly near?: Point | undefined
  readonly limit?: number | undefined
}

interface TerritoriesRequest {
  readonly kind: "conflicts" | "gaps"
  /** The codes whose gaps are listed. */
  readonly within?: CodeRange | undefined
  readonly countryCode?: string | undefined
  readonly limit?: number | undefined
  readonly page?: number | undefined
}

interface Found {
  readonly data: Encoded<ReadonlyArray<ServingLocation>>
}

const none = "[]"

const found = (statement: Effect.Effect<ReadonlyArray<Found>, SqlError.SqlError>) =>
  Effect.orDie(Effect.map(statement, ([row]) => row!.data))

interface Row {
  readonly total: number
  readonly data: Encoded<ReadonlyArray<TerritoryConflict | TerritoryGap>> | null
}

/** Which locations claim which postal codes. */
export class Territories extends Context.Service<
  Territories,
  {
    /** The locations that serve a postal code, the best first. */
    resolve(request: ServingRequest): Effect.Effect<Encoded<ReadonlyArray<ServingLocation>>>
    /** A page of the codes that several locations claim, or of those that none claims. */
    list(request: TerritoriesRequest): Effect.Effect<EncodedPage<TerritoryConflict | TerritoryGap>>
  }
>()("waypost/repositories/locations/Territories") {
  static readonly layer = Layer.effect(
    Territories,
    Effect.gen(function* () {
      const { largePages, pooled, search } = yield* Sql
      const costs = { conflicts: PageCost.make(), gaps: PageCost.make() }
      return traced(Territories, {
        // Each reason is looked up only if the better ones have no location. The plans of the last two depend on the values:
        // on how many locations have such zip codes, or are in the country; so does how long they take.
        resolve: Effect.fnUntraced(function* ({ limit = 5, ...request }) {
          const { near } = request
          const asked = { limit, ...request }
          const listed = yield* found(pooled<Found>`${listedSql(asked)}`)
          if (listed !== none) return listed
          const addressed = yield* found(search((pool) => pool<Found>`${addressedSql(asked)}`.unprepared))
          if (addressed !== none || near === undefined) return addressed
          return yield* found(search((pool) => pool<Found>`${nearestSql({ ...asked, near })}`.unprepared))
        }),
        list: Effect.fnUntraced(function* ({ limit = defaults.limit, page = defaults.page, ...request }) {
          const { countryCode } = request
          const within = yield* rangeOf(request)
          const offset = Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER)
          const asked = { countryCode, limit, offset }
          const cost = within === undefined ? costs.conflicts : costs.gaps
          const statement = within === undefined ? conflictsSql(asked) : gapsSql(within, asked)
          const read = search((pool) => Effect.orDie(pool<Row>`${statement}`.unprepared))
          const [row] = yield* cost.isLarge(limit) ? largePages(read) : read
          const { data, total } = row!
          const rows = Math.min(limit, total - offset)
          if (rows > 0) cost.note(data?.length ?? maxAnswerBytes, rows)
          if (data === null) return yield* Effect.die(tooMuch(limit))
          return { data, pagination: pagination(limit, page, total) }
        })
      })
    })
  )
}

const rejected = (code: string, message: string) => Effect.die(InvalidRequestError.at("query", "within", code, message))

/** The codes whose gaps are asked for, if gaps are; ends the request if the parameters contradict. */
const rangeOf = ({ kind, within }: TerritoriesRequest) => {
  if (kind === "gaps" && within === undefined)
    return rejected("required", "`kind=gaps` needs `within`, such as 1000-9999")
  if (kind === "conflicts" && within !== undefined) return rejected("notAllowed", "`within` needs `kind=gaps`")
  return Effect.succeed(within)
}
