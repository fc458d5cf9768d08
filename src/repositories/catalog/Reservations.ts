import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { ReservationId, ReservationNotFoundError, type ReservationCreate } from "../../domain/catalog/Reservation.ts"
import { problemsOf } from "../../domain/catalog/ReservationRules.ts"
import { ProductNotFoundError } from "../../domain/catalog/Product.ts"
import type {
  ModuleIncompatibleWithProductTypeError,
  ModuleNotActiveError
} from "../../domain/catalog/ProductModule.ts"
import { LocationNotFoundError } from "../../domain/locations/Location.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import type { ProductId } from "../../domain/catalog/ProductId.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import * as Written from "../../domain/write/Written.ts"
import * as Queues from "../../sql/connections/Queues.ts"
import { Sql } from "../../sql/Sql.ts"
import { transaction } from "../../sql/Transactions.ts"
import { traced } from "../../sql/Traced.ts"
import { noVisibility } from "./ModuleReferences.ts"
import { asIssues } from "./ModuleProblems.ts"
import { ProductModules } from "./ProductModules.ts"
import { bookSql, cancelSql } from "./ReservationSql.ts"

/** The reservations of products, in PostgreSQL. A precondition is on the reservations module, which lists them. */
export class Reservations extends Context.Service<
  Reservations,
  {
    /** Reserves copies for a location, if the rules of the module allow it and copies are free. */
    create(
      product: ProductId,
      reservation: ReservationCreate,
      precondition: Precondition
    ): Effect.Effect<
      Written.Written<"reservations", ReservationId>,
      | ProductNotFoundError
      | LocationNotFoundError
      | ModuleNotActiveError
      | ModuleIncompatibleWithProductTypeError
      | InvalidRequestError
    >
    /** Removes a reservation, so that its copies are free. */
    cancel(
      product: ProductId,
      reservation: ReservationId,
      precondition: Precondition
    ): Effect.Effect<Written.Written<"reservations", ReservationId>, ProductNotFoundError | ReservationNotFoundError>
  }
>()("waypost/repositories/catalog/Reservations") {
  static readonly layer = Layer.effect(
    Reservations,
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const modules = yield* ProductModules
      /**
       * Reservations of one product wait for each other here, in turns of shares, and only one of them waits on a connection. One
       * within another transaction has a connection, which those before it may need, so that it waits for the product in the database.
       */
      const queue = yield* Queues.make
      const inTurn = <A, E>(product: ProductId, created: Effect.Effect<A, E>) =>
        Effect.flatMap(Effect.serviceOption(pooled.transactionService), (outer) =>
          Option.isSome(outer) ? created : queue(product, created)
        )

      const create = Effect.fnUntraced(
        function* (
          product: ProductId,
          { from, locationUuid, quantity, until }: ReservationCreate,
          precondition: Precondition
        ) {
          // Until this transaction ends, no other one reserves copies of the product or changes its modules.
          const [locked] = yield* pooled<Locked>`
          select extract(epoch from now())::float8 * 1000 as now,
            exists (select from locations where uuid = ${locationUuid}) as "isLocation"
          from products where uuid = ${product} for no key update`
          if (locked === undefined) return yield* ProductNotFoundError.of(product)
          if (!locked.isLocation) return yield* LocationNotFoundError.of(locationUuid)
          yield* modules.check("reservations", product, noVisibility, precondition)
          const settings = yield* modules.settings("reservations", product)
          const period = { from: DateTime.toEpochMillis(from), until: DateTime.toEpochMillis(until) }
          const problems = problemsOf(period, settings, locked.now)
          if (problems.length > 0) return yield* InvalidRequestError.of(asIssues(problems))
          const uuid = ReservationId.make(SecureRandom.uuidV7Unsafe())
          const copies = quantity ?? 1
          const reservation = { uuid, product, location: locationUuid, from, until, copies }
          const [row] = yield* pooled<Booked>`${bookSql(reservation, settings)}`
          const { free, freeOfLocation, isBooked } = row!
          if (isBooked) return Written.created("reservations", uuid)
          return yield* copies > free ? noCopyFree(copies, free) : tooManyOfLocation(copies, freeOfLocation ?? 0)
        },
        (write, product) => inTurn(product, transaction(pooled, write))
      )

      const cancel = Effect.fnUntraced(
        function* (product: ProductId, reservation: ReservationId, precondition: Precondition) {
          if (precondition !== undefined) {
            const locked = yield* pooled`select 1 from products where uuid = ${product} for no key update`
            if (locked.length === 0) return yield* ProductNotFoundError.of(product)
          }
          yield* modules.check("reservations", product, noVisibility, precondition)
          const [row] = yield* pooled<Cancelled>`${cancelSql(product, reservation)}`
          if (!row!.isProduct) return yield* ProductNotFoundError.of(product)
          if (!row!.isCancelled) return yield* ReservationNotFoundError.of(reservation)
          return Written.deleted("reservations", reservation)
        },
        (write) => transaction(pooled, write)
      )

      return traced(Reservations, { create, cancel })
    })
  )
}

interface Locked {
  /** The clock of the database, in milliseconds since 1970. */
  readonly now: number
  readonly isLocation: boolean
}

interface Booked {
  /** The copies that nothing else reserves at any time of the period. */
  readonly free: number
  /** The copies that the location may have in addition, where that is limited. */
  readonly freeOfLocation: number | null
  readonly isBooked: boolean
}

interface Cancelled {
  readonly isProduct: boolean
  readonly isCancelled: boolean
}

const noCopyFree = (copies: number, free: number) =>
  InvalidRequestError.inBody(
    "quantity",
    "noCopyFree",
    `${copies === 1 ? "No copy is" : `Fewer than ${copies} copies are`} free in this period; free are ${Math.max(free, 0)}`
  )

const tooManyOfLocation = (copies: number, free: number) =>
  InvalidRequestError.inBody(
    "quantity",
    "tooManyOfLocation",
    `The location may have ${Math.max(free, 0)} more copies in this period, not ${copies}`
  )
