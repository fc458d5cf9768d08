import { Effect, Layer, Metric, Schedule } from "effect"
import { CurrentShare, firstShare } from "../domain/keys/Share.ts"
import { makeSteps } from "../sql/Parts.ts"
import { Sql } from "../sql/Sql.ts"
import { begunLater, repeatedly } from "./Repeated.ts"

/** Events per statement at most, so that none runs long. */
const batch = 5000

/**
 * Makes the effect that gives positions in the log to the changes that were committed. Any number of processes may run it concurrently:
 * one seals, the others do nothing. It remembers how many changes a statement seals in its time.
 */
export const make = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const runStep = yield* makeSteps(batch)
  const sealSome = (size: number) =>
    Effect.map(
      pooled<{ readonly changes: number }>`select waypost_seal(${size}::int) as changes`,
      ([row]) => row!.changes === size
    )
  return Effect.provideService(
    Effect.repeat(runStep(sealSome), { while: (isFull) => isFull }),
    CurrentShare,
    firstShare
  )
})

/** Seals all changes that were committed. */
export const seal = Effect.flatten(make)

const age = Metric.gauge("waypost_unsealed_change_age_seconds", {
  description: "Time since the oldest committed change that the log does not have yet"
})

const measureAge = Sql.pipe(
  Effect.flatMap(
    ({ pooled }) => pooled<{ readonly seconds: number }>`
      select coalesce(extract(epoch from clock_timestamp() - (select at from pending_changes order by id limit 1)), 0)::float8
        as seconds`
  ),
  Effect.provideService(CurrentShare, firstShare),
  Effect.flatMap(([row]) => Metric.update(age, row!.seconds)),
  Effect.catchCause((cause) => Effect.logDebug("Could not measure the age of unsealed changes", cause))
)

/** Seals while the service runs. A follower of the log sees a change this long after its commit. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* Metric.update(age, 0)
    yield* repeatedly("Could not seal the change log", "100 millis", yield* make)
    yield* Effect.forkScoped(begunLater("1 second", Effect.repeat(measureAge, Schedule.spaced("1 second"))))
  })
)
