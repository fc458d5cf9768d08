import { Array as Arr, Effect } from "effect"
import type { Client } from "../../client/Client.ts"
import { maxOperations } from "../../domain/write/Bulk.ts"
import * as Failures from "../Failures.ts"
import type { Resource } from "../transfer/Resource.ts"
import type * as Upsert from "../transfer/Upsert.ts"
import type { RowRecord } from "./PlanRecords.ts"

/** Of so many rows of a chunk that are new, those of the next one are created before they are compared. */
const share = 0.9

/**
 * Creates the records of rows with bulk requests, while nearly all of them are new: a plan compares each with what is there, and
 * costs twice as much.
 */
export const make = (client: Client["Service"], { createAll }: Resource, summary: Upsert.Summary) => {
  let areNew = false

  const create = Effect.fnUntraced(function* (rows: ReadonlyArray<RowRecord>) {
    if (createAll === undefined) return rows
    const areCreated = yield* Failures.patiently(createAll(client)(rows.map(({ record }) => record))).pipe(
      // A plan takes more bytes.
      Effect.catchIf(
        ({ _tag }) => _tag === "PayloadTooLargeError",
        () => Effect.succeed([])
      )
    )
    const left = rows.filter((_, index) => areCreated[index] !== true)
    summary.created += rows.length - left.length
    return left
  })

  return {
    /** Creates what can be created, and returns the other rows: a plan finds out what they need. */
    create: (rows: ReadonlyArray<RowRecord>) =>
      areNew
        ? Effect.map(Effect.forEach(Arr.chunksOf(rows, maxOperations), create), (left) => left.flat())
        : Effect.succeed(rows),
    /** Has the next chunk created or compared first, by how many rows of this one were new. */
    learn: (created: number, rows: number) => {
      areNew = rows > 0 && created >= share * rows
    }
  }
}
