import { Effect } from "effect"
import { CurrentShare } from "../../src/domain/keys/Share.ts"
import { maxLong } from "../../src/sql/connections/Pools.ts"
import { Sql } from "../../src/sql/Sql.ts"
import { send } from "./requests/Requests.ts"

type Turn = (effect: Effect.Effect<void>) => Effect.Effect<void>

/** Whether a request ends only after shares have had their turns for some time, one for each id. */
const waits = <A, E, R>(turn: Turn, ids: ReadonlyArray<string>, request: Effect.Effect<A, E, R>, millis: number) =>
  Effect.gen(function* () {
    let isHeld = true
    const hold = Effect.andThen(
      Effect.sleep(millis),
      Effect.sync(() => {
        isHeld = false
      })
    )
    for (const id of ids) {
      const share = { id, weight: 1, isAlone: () => false }
      yield* Effect.forkScoped(turn(hold).pipe(Effect.provideService(CurrentShare, share)), { startImmediately: true })
    }
    yield* request
    return !isHeld
  }).pipe(Effect.scoped)

/** Whether a request waits while two other keys read large pages, for this time. */
export const waitsForLargePages = <A, E, R>(request: Effect.Effect<A, E, R>, millis = 700) =>
  Effect.flatMap(Sql, ({ largePages }) => waits(largePages, ["first", "second"], request, millis))

/** Whether a request of the key with all permissions waits while that key has as many long statements as it may. */
export const waitsForLongStatements = <A, E, R>(request: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { search } = yield* Sql
    const { uuid } = (yield* send("GET", "/v1/me")).body.data
    const ids = Array.from({ length: maxLong }, () => uuid)
    return yield* waits((hold) => search(() => hold), ids, request, 700)
  })

/** The connections of a service, which note how each read is run. */
export const watched = (service: Sql["Service"], used: Array<string>) =>
  Sql.of({
    ...service,
    cheapPage: (run) => {
      used.push("cheap")
      return service.cheapPage(run)
    },
    largePages: (read) => {
      used.push("large")
      return service.largePages(read)
    },
    search: (run) => {
      used.push("long")
      return service.search(run)
    }
  })
