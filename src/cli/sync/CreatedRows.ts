import { Effect } from "effect"
import type { Client } from "../../client/Client.ts"
import { maxOperations } from "../../domain/write/Bulk.ts"
import * as Failures from "../Failures.ts"
import type { Resource } from "../transfer/Resource.ts"
import type * as Upsert from "../transfer/Upsert.ts"
import * as Parts from "./Parts.ts"
import type { RowRecord } from "./PlanRecords.ts"

/** If at least this part of the rows of a chunk was new, those of the next chunk are created before they are compared. */
const share = 0.98

/** Characters of the records in one request, which a slow connection sends within the time that a bulk request may take. */
const parts = {
  sizeOf: ({ record }: RowRecord) => JSON.stringify(record).length,
  maxSize: 512 * 1024,
  maxItems: maxOperations
}

/**
 * Creates the records of rows with bulk requests while nearly all of them are new, which takes less time than plans: a plan
 * compares each row with the record of its key, and stores it. After a failure everything is left to plans, which may be larger and
 * take longer, and find unchanged what a request with a lost answer created.
 */
export const make = (client: Client["Service"], { createAll }: Resource, summary: Upsert.Summary) => {
  let areNew = false
  let hasFailed = createAll === undefined

  const create = (rows: ReadonlyArray<RowRecord>) =>
    createAll === undefined || hasFailed
      ? Effect.succeed(rows)
      : Failures.retriedWhileBusy(createAll(client)(rows.map(({ record }) => record))).pipe(
          Effect.map((areCreated) => rows.filter((_, index) => areCreated[index] !== true)),
          Effect.tap((left) => Effect.sync(() => void (summary.created += rows.length - left.length))),
          Effect.catch(() =>
            Effect.sync(() => {
              hasFailed = true
              return rows
            })
          )
        )

  return {
    /** Creates what can be created, and returns the other rows: a plan finds out what they need. */
    create: (rows: ReadonlyArray<RowRecord>): Effect.Effect<ReadonlyArray<RowRecord>> =>
      areNew && !hasFailed
        ? Effect.map(Effect.forEach(Parts.divide(rows, parts), create), (left) => left.flat())
        : Effect.succeed(rows),
    /** Has the next chunk created or compared first, by how many rows of this one were new. */
    learn: (created: number, rows: number) => {
      areNew = rows > 0 && created >= share * rows
    }
  }
}
