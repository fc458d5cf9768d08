import { Console, Effect, Stream, Struct } from "effect"
import { Client } from "../../client/Client.ts"
import type * as FileRows from "../files/FileRows.ts"
import * as RefusedRows from "../files/RefusedRows.ts"
import type { Resource } from "../transfer/Resource.ts"
import { numberOf, type Place, placeOf, type Row } from "../files/Row.ts"
import * as PlanRecords from "./PlanRecords.ts"

/** Rows whose names are looked up together. */
const chunk = 2000

/**
 * The rows as the service reads them, with their numbers in the file. Rows that cannot be written are printed, and sent with
 * their reasons: the service does not delete the records that they name.
 */
export const make = Effect.fnUntraced(function* (resource: Resource, rows: FileRows.FileRows["rows"]) {
  const { choose, read, resolve } = PlanRecords.make(yield* Client, resource)
  const lines: Array<string> = []
  const refused = new Set<number>()
  // All positions of a file are of one kind.
  let place: Place = { row: 1 }
  yield* rows.pipe(
    Stream.grouped(chunk),
    Stream.runForEach(
      Effect.fnUntraced(function* (group) {
        place = group[0].at
        const known = read(group)
        const { left, planned } = yield* choose(known.records)
        const resolved = yield* resolve(planned)
        const inOrder = <T extends { readonly row: Row }>(all: ReadonlyArray<T>) =>
          all.toSorted((a, b) => numberOf(a.row.at) - numberOf(b.row.at))
        const unsupported = left.map((row) => ({ row, reasons: [resource.planned!.unsupported] }))
        const refusedRows = inOrder([...known.refused, ...resolved.refused, ...unsupported])
        const refusedRecords = refusedRows.map(({ reasons, row }) => ({
          row,
          record: { [resource.key]: row.key, _refused: reasons.map(Struct.omit(["reference"])) }
        }))
        for (const { record, row } of inOrder([...resolved.records, ...refusedRecords]))
          lines.push(JSON.stringify({ ...record, _row: numberOf(row.at) }))
        for (const one of refusedRows) {
          refused.add(numberOf(one.row.at))
          yield* Console.log(RefusedRows.textOf(one))
        }
      })
    )
  )
  return {
    text: new TextEncoder().encode(lines.join("\n")),
    refused,
    /** The position of the row with a number, as messages show it. */
    placeAt: (number: number) => placeOf(place, number)
  }
})
