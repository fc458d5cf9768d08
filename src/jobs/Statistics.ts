import { Effect, Layer } from "effect"
import { correct, couldNotCorrect } from "../sql/Statistics.ts"
import { Sql } from "../sql/Sql.ts"
import { repeatedly } from "./Repeated.ts"

/** Corrects what PostgreSQL expects of tables every few seconds while the service runs. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(Sql, ({ pooled }) => repeatedly(couldNotCorrect, "5 seconds", correct(pooled)))
)
