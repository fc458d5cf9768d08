import { Effect, Layer } from "effect"
import { IdempotentAnswers } from "../../../src/repositories/idempotency/IdempotentAnswers.ts"
import { Sql } from "../../../src/sql/Sql.ts"

/** Removes the answers that are no longer kept, as the service does every hour. */
export const removeExpired = Effect.flatMap(Sql, (sql) =>
  IdempotentAnswers.pipe(
    Effect.flatMap((answers) => answers.removeExpired),
    Effect.provide(Layer.provide(IdempotentAnswers.layer, Layer.succeed(Sql, sql)))
  )
)
