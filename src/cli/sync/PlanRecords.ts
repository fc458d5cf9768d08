import { Effect, Result, Schema } from "effect"
import type { Json } from "../../domain/schema/Json.ts"
import type { Client } from "../../client/Client.ts"
import { limits } from "../../domain/plans/Plan.ts"
import type { RefusedRow } from "../files/RefusedRows.ts"
import * as Names from "../transfer/Names.ts"
import type { Resource } from "../transfer/Resource.ts"
import type { Reason, Row } from "../files/Row.ts"
import * as Upsert from "../transfer/Upsert.ts"

/** A row that was read, and its record. */
export interface RowRecord {
  readonly row: Row
  readonly record: Json
}

/** Rows that a plan can take, and rows that it cannot. */
export interface PlanRecords {
  readonly records: ReadonlyArray<RowRecord>
  readonly refused: ReadonlyArray<RefusedRow>
}

const divide = <T extends { readonly row: Row }>(
  all: ReadonlyArray<T>,
  recordOf: (one: T) => Result.Result<Json, ReadonlyArray<Reason>>
): PlanRecords => {
  const records: Array<RowRecord> = []
  const refused: Array<RefusedRow> = []
  for (const one of all) {
    const record = recordOf(one)
    if (Result.isSuccess(record)) records.push({ row: one.row, record: record.success })
    else refused.push({ row: one.row, reasons: record.failure })
  }
  return { records, refused }
}

const tooLarge: Reason = {
  code: "tooLarge",
  message: `The row has more than ${limits.rowLength / 1024 ** 2} MiB as JSON, the maximum of a row`
}

/** What the number of a row adds to its line in a plan. */
const numberLength = ',"_row":2147483647'.length

/** A record whose line a plan takes; for one that is too long it would reject all rows. */
const bounded = (record: Json): Result.Result<Json, ReadonlyArray<Reason>> =>
  JSON.stringify(record).length + numberLength > limits.rowLength ? Result.fail([tooLarge]) : Result.succeed(record)

/** Prepares rows for plans, which have uuids where files have names. */
export const make = (client: Client["Service"], resource: Resource) => {
  const { toApi } = resource
  const names = Names.make(client)
  const validate = Upsert.validator(resource)
  const encode = Schema.encodeUnknownSync(resource.create)

  return {
    /** The records of rows. Rows in which names are replaced are validated first; a plan validates the others. */
    read: (rows: ReadonlyArray<Row>): PlanRecords =>
      divide(
        rows.map((row) => ({ row })),
        ({ row }) =>
          toApi === undefined
            ? (row.record as Result.Result<Json, ReadonlyArray<Reason>>)
            : Result.map(validate(row), encode)
      ),

    /** The records as plans write them, and the rows that plans cannot do. */
    choose: Effect.fnUntraced(function* (records: ReadonlyArray<RowRecord>) {
      const left: Array<Row> = []
      if (resource.planned === undefined) return { planned: records, left }
      const chosen = yield* resource.planned.choose(
        client,
        records.map(({ record }) => record)
      )
      const planned: Array<RowRecord> = []
      for (const [index, { row }] of records.entries()) {
        const record = chosen[index]
        if (record === undefined) left.push(row)
        else planned.push({ row, record })
      }
      return { planned, left }
    }),

    /**
     * The records with uuids in the place of names. Rows are refused for the first name that no record has, and those that are too
     * long for a plan.
     */
    resolve: Effect.fnUntraced(function* (records: ReadonlyArray<RowRecord>) {
      if (toApi === undefined) return divide(records, ({ record }) => bounded(record))
      const wanted = new Map<Names.NamedKind, Set<string>>()
      const want = (kind: Names.NamedKind, name: string) => {
        const named = wanted.get(kind) ?? new Set()
        wanted.set(kind, named.add(name))
        return name
      }
      for (const { record } of records) toApi(record, want)
      const found = new Map<Names.NamedKind, ReadonlyMap<string, string>>()
      for (const [kind, named] of wanted) found.set(kind, yield* names.uuidsOf(kind, [...named]))
      return divide(records, ({ record }) => {
        let unknown: Reason | undefined
        const sent = toApi(record, (kind, name) => {
          const uuid = found.get(kind)!.get(name)
          if (uuid === undefined) unknown ??= Names.unknown(kind, name)
          return uuid ?? name
        })
        return unknown === undefined ? bounded(sent) : Result.fail([unknown])
      })
    })
  }
}
