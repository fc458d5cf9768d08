import { Context, Effect, Layer, Schedule, Schema } from "effect"
import { PersistedQueue } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { FileId } from "../../domain/assets/File.ts"
import { jobs, Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"

/** How often the thumbnails of a file are tried, within about 15 minutes. */
export const maxAttempts = 5

const retrySchedule = Schedule.exponential("1 minute")

const name = "renditions"

/** The files whose thumbnails are still to be rendered: a queue in the database, which outlives the process. */
export class ThumbnailQueue extends Context.Service<
  ThumbnailQueue,
  {
    /** Requests the thumbnails of a file; in a transaction, when it commits. */
    offer(file: FileId): Effect.Effect<void>
    /** Waits for the next file and handles it; a failure is retried later. */
    take<E>(handle: (file: FileId, attempt: number) => Effect.Effect<void, E>): Effect.Effect<void, E>
  }
>()("waypost/repositories/assets/ThumbnailQueue") {
  static readonly layer = Layer.effect(
    ThumbnailQueue,
    Effect.gen(function* () {
      const queue = yield* PersistedQueue.make({
        name,
        schema: Schema.Struct({ fileUuid: FileId }),
        maxAttempts,
        retrySchedule
      })
      return traced(ThumbnailQueue, {
        offer: (fileUuid) => Effect.asVoid(Effect.orDie(queue.offer({ fileUuid }, { id: fileUuid }))),
        take: (handle) =>
          queue
            .take(({ fileUuid }, { attempts }) => handle(fileUuid, attempts))
            .pipe(Effect.catchTag("PersistedQueueError", Effect.die))
      })
    })
  ).pipe(
    Layer.provide(PersistedQueue.layer),
    Layer.provideMerge(PersistedQueue.layerCleanup({ timeToLive: "1 day" })),
    Layer.provide(jobs),
    Layer.provide(
      Layer.effect(
        SqlClient.SqlClient,
        Effect.map(Sql, ({ pooled }) => pooled)
      )
    )
  )
}
