import { Console, Effect, Stream, Struct } from "effect"
import { Client } from "../../client/Client.ts"
import type * as FileRows from "../files/FileRows.ts"
import * as RefusedRows from "../files/RefusedRows.ts"
import type { Resource } from "../transfer/Resource.ts"
import type { Row } from "../files/Row.ts"
import * as PlanRecords from "./PlanRecords.ts"

/** Rows whose names are looked up together. */
const chunk = 2000

/**
 * The rows as the service reads them, with their numbers. Rows that cannot be written are printed, and sent with their reasons:
 * the service does not delete the records that they name.
 */
export const make = Effect.fnUntraced(function* (resource: Resource, rows: FileRows.FileRows["rows"]) {
  const { choose, read, resolve } = PlanRecords.make(yield* Client, resource)
  const lines: Array<string> = []
  const refused = new Set<number>()
  let number = 0
  yield* rows.pipe(
    Stream.grouped(chunk),
    Stream.runForEach(
      Effect.fnUntraced(function* (group) {
        const numbers = new Map(group.map((row) => [row, ++number]))
        const known = read(group)
        const { left, planned } = yield* choose(known.records)
        const resolved = yield* resolve(planned)
        const inOrder = <T extends { readonly row: Row }>(all: ReadonlyArray<T>) =>
          all.toSorted((a, b) => numbers.get(a.row)! - numbers.get(b.row)!)
        const unsupported = left.map((row) => ({ row, reasons: [resource.planned!.unsupported] }))
        const refusedRows = inOrder([...known.refused, ...resolved.refused, ...unsupported])
        const refusedRecords = refusedRows.map(({ reasons, row }) => ({
          row,
          record: { [resource.key]: row.key, _refused: reasons.map(Struct.omit(["reference"])) }
        }))
        for (const { record, row } of inOrder([...resolved.records, ...refusedRecords]))
          lines.push(JSON.stringify({ ...record, _row: numbers.get(row) }))
        for (const one of refusedRows) {
          refused.add(numbers.get(one.row)!)
          yield* Console.log(RefusedRows.textOf(one))
        }
      })
    )
  )
  return { text: new TextEncoder().encode(lines.join("\n")), refused }
})
