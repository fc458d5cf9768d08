import { Context, Effect, Layer, Schedule, Schema } from "effect"
import { PersistedQueue } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { FileId } from "../../domain/assets/File.ts"
import { CurrentShare, firstShare } from "../../domain/keys/Share.ts"
import { jobLease, jobs, jobTable } from "../../sql/connections/JobQueue.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"

/** How often the thumbnails of a file are tried, within about 15 minutes; after that, a request for one makes them. */
const maxAttempts = 5

const retrySchedule = Schedule.exponential("1 minute")

const schema = Schema.Struct({ fileUuid: FileId })

/** The name of the queue of a share. Files of earlier versions have none. */
const nameOf = (share: string | null | undefined) => (typeof share === "string" ? `renditions ${share}` : "renditions")

/** How long the row of a job that has ended or failed stays. While it is there, its file is not queued again. */
const timeToLive = "1 day"

/** How long a queue is asked for a file that another process may have taken. */
const patience = "1 second"

/**
 * The files whose thumbnails are still to be rendered, in the database, which outlives the process. Each share of the keys that
 * uploaded them has a queue of its own, so that the files of one are not behind all files of another.
 */
export class ThumbnailQueue extends Context.Service<
  ThumbnailQueue,
  {
    /** Requests the thumbnails of a file; in a transaction, when it commits. */
    offer(file: FileId): Effect.Effect<void>
    /** The names of the queues that have a file now that no process works on. */
    readonly names: Effect.Effect<ReadonlyArray<string>>
    /** Handles the next file of a queue, if it has one; a failure is retried later. Returns whether it had one. */
    take<E>(name: string, handle: (file: FileId) => Effect.Effect<void, E>): Effect.Effect<boolean, E>
  }
>()("waypost/repositories/assets/ThumbnailQueue") {
  static readonly layer = Layer.effect(
    ThumbnailQueue,
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { make } = yield* PersistedQueue.PersistedQueueFactory
      const queueOf = (name: string) => make({ name, schema, maxAttempts, retrySchedule })

      const offer = Effect.fnUntraced(function* (fileUuid: FileId) {
        const [file] = yield* pooled<{ readonly share: string | null }>`
          select share_uuid as share from files where uuid = ${fileUuid}`
        const queue = yield* queueOf(nameOf(file?.share))
        yield* queue.offer({ fileUuid }, { id: fileUuid })
      }, Effect.orDie)

      const isFree = pooled`state = 'pending' and visible_at <= now()
        and (acquired_at is null or acquired_at < now() - ${jobLease}::interval)`

      // Of each name it reads the index up to the first free file, behind those that are taken; of a name without one it reads
      // all, which are taken or wait for a retry.
      const findNames = pooled<{ readonly name: string }>`
        with recursive queues (name) as (
          select min(queue_name) from ${pooled(jobTable)} where ${isFree}
          union all
          select (select min(queue_name) from ${pooled(jobTable)} where ${isFree} and queue_name > queues.name)
            from queues where queues.name is not null
        )
        select name from queues where name is not null`

      const take = <E>(name: string, handle: (file: FileId) => Effect.Effect<void, E>) =>
        Effect.flatMap(CurrentShare, (share) => {
          let isTaken = false
          const begin = (file: FileId) =>
            Effect.suspend(() => {
              isTaken = true
              return Effect.provideService(handle(file), CurrentShare, share)
            })
          // The end of a job that waits for a connection for too long would not be recorded, and the job begin again.
          const taken = Effect.flatMap(queueOf(name), (queue) => queue.take(({ fileUuid }) => begin(fileUuid))).pipe(
            Effect.provideService(CurrentShare, firstShare)
          )
          const isEmpty = Effect.suspend(() => (isTaken ? Effect.never : Effect.succeed(false)))
          return Effect.raceFirst(Effect.as(taken, true), Effect.delay(isEmpty, patience))
        }).pipe(Effect.catchTag("PersistedQueueError", Effect.die))

      return traced(ThumbnailQueue, {
        offer,
        names: Effect.orDie(Effect.map(findNames, (rows) => rows.map(({ name }) => name))),
        take
      })
    })
  ).pipe(
    Layer.provide(PersistedQueue.layer),
    Layer.provideMerge(PersistedQueue.layerCleanup({ timeToLive, failedTimeToLive: timeToLive })),
    Layer.provide(jobs),
    Layer.provide(
      Layer.effect(
        SqlClient.SqlClient,
        Effect.map(Sql, ({ pooled }) => pooled)
      )
    )
  )
}
