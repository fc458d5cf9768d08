import { Array as Arr, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Entry } from "../../domain/changes/Event.ts"
import type { Outcome } from "../../domain/write/Bulk.ts"
import { CurrentTransaction, make as surround } from "../../domain/write/SurroundingTransaction.ts"
import type { Comparison, Trial } from "../../sql/batch/BatchTypes.ts"
import { trialSetting } from "../../sql/ChangeSetting.ts"
import type { Turn } from "../../sql/connections/FairPermits.ts"
import { rolledBack } from "../../sql/RolledBack.ts"
import { transaction } from "../../sql/Transactions.ts"
import { locksRelations, run } from "../bulk/Bulk.ts"
import { decodeEach } from "../../domain/write/DecodeEach.ts"
import type { DecodedOperation } from "../bulk/Decoding.ts"
import type { BulkResource } from "../bulk/Resource.ts"
import * as Records from "./PlanRecords.ts"
import type { Found } from "./PlanStatements.ts"
import { issuesOf, leaves, setOf } from "./RowForms.ts"

/** Begins a trial; none for a resource whose writes can only be tried by writing. */
export type Begin = (() => Trial) | undefined

/** A row with the operation that it asks for. */
export interface Prepared {
  readonly place: number
  readonly row: number
  readonly key: string
  readonly compared: string
  readonly data: unknown
  readonly found: Found | undefined
  readonly operation: DecodedOperation
}

/** Rows that are compared together, with what they are compared with. */
interface Compared {
  readonly rows: ReadonlyArray<Prepared>
  /** The JSON of the members of their records that are written, by uuid. */
  readonly before: ReadonlyMap<string, string | null>
  /** Whether they write rows of join tables. */
  readonly locks: boolean
  /** How many bytes their records have. */
  readonly bytes: number
}

/** Rows, and what they change of the relations of their records, by the places of the rows. */
interface Related {
  readonly rows: ReadonlyArray<Prepared>
  readonly relations: ReadonlyMap<number, ReadonlyArray<Entry>>
}

/** What rows would do: computed where that can be, and otherwise found by doing it without its log and undoing it. */
export const make = (
  pooled: SqlClient.SqlClient,
  resource: BulkResource,
  comparison: Comparison,
  requestId: string
) => {
  const { batch } = resource

  /** The first rows, as many as have records of a limited size. */
  const first = Effect.fnUntraced(function* (prepared: ReadonlyArray<Prepared>) {
    const uuids = prepared.flatMap(({ found }) => found?.uuid ?? [])
    const records = uuids.length === 0 ? [] : yield* Records.readFirst(pooled, comparison, uuids)
    const before = new Map(records.map(({ json, uuid }) => [uuid, json]))
    const rows = Arr.takeWhile(prepared, ({ found }) => !found?.uuid || before.has(found.uuid))
    const locks = locksRelations(batch, { operations: rows.map(({ operation }) => operation) })
    const bytes = records.reduce((sum, { json }) => sum + (json?.length ?? 0), 0)
    return { rows, before, locks, bytes } satisfies Compared
  })

  /** The first of the rows, as many as change a limited number of relations. */
  const related = Effect.fnUntraced(function* (all: ReadonlyArray<Prepared>) {
    let rows = all
    const relations = new Map<number, Array<Entry>>()
    for (const member of batch.relations) {
      const sets = rows.flatMap((row) => {
        const members = setOf(row.operation, member)
        return members === undefined ? [] : [{ row, uuid: row.found?.uuid, members }]
      })
      const known = sets.flatMap(({ members, uuid }) => (uuid ? [{ members, uuid }] : []))
      const differing = known.length === 0 ? [] : yield* batch.differing(member, known)
      const differences = new Map(differing.map((difference) => [difference.uuid, difference]))
      const unread = sets.find(({ uuid }) => uuid && !differences.has(uuid))?.row
      if (unread !== undefined) rows = Arr.takeWhile(rows, (row) => row !== unread)
      for (const { members, row, uuid } of sets) {
        const { added, removed } = differences.get(uuid ?? "") ?? { added: members, removed: [] }
        if (added.length + removed.length === 0) continue
        relations.set(row.place, [...(relations.get(row.place) ?? []), { path: member, added, removed }])
      }
    }
    return { rows, relations } satisfies Related
  })

  const staged = (
    { compared, data, found, key, place, row }: Prepared,
    { error }: Outcome,
    after: string | undefined,
    before: Compared["before"],
    relations: Related["relations"]
  ) => {
    const base = { place, row, key, compared, record: found?.uuid ?? undefined, editedAt: found?.editedAt ?? undefined }
    if (error !== undefined) return { ...base, kind: "refused" as const, changes: [], issues: issuesOf(error) }
    if (after === undefined) return { ...base, kind: "unchanged" as const, changes: [] }
    const changes = [...leaves(before.get(found?.uuid ?? ""), after), ...(relations.get(place) ?? [])]
    return { ...base, kind: found === undefined ? ("create" as const) : ("update" as const), data, changes }
  }

  /**
   * What the first of the rows would do. Each attempt to write them takes a `turn`, which it gives back while it waits for locks.
   *
   * Their relations are read under the lock of the join tables. Read before it, they would lack what another transaction wrote
   * earlier and commits while this one waits, which is older than the plan and so does not make it outdated.
   */
  const attempt = Effect.fnUntraced(function* ({ before, locks, rows: all }: Compared, begin: Begin, turn: Turn) {
    // A transaction that is repeated begins another trial.
    const write = Effect.gen(function* () {
      const { relations, rows } = yield* related(all)
      const operations = rows.map(({ operation }) => operation)
      const trial = locks ? undefined : begin?.()
      yield* pooled`select ${trialSetting}`
      const outcomes = yield* run(pooled, { ...resource, batch: { ...batch, ...trial } }, { operations, requestId })
      const answers = outcomes.all()
      const after = new Map(trial?.tried)
      const written = answers.flatMap(({ index, uuid }) =>
        uuid !== undefined && outcomes.isChanged(index) && !after.has(uuid) ? [uuid] : []
      )
      // They have the bytes that were read before, and what the rows add.
      const records = written.length === 0 ? [] : yield* Records.read(pooled, comparison, written)
      for (const { json, uuid } of records) after.set(uuid, json)
      return { rows, relations, outcomes: answers, after }
    })
    const undone = locks
      ? rolledBack(pooled, write, (ended) => batch.transaction(ended, { locks }))
      : rolledBack(pooled, write, (ended) => transaction(pooled, ended, { waitsForLocks: true, turn }))
    const { after, outcomes, relations, rows } = yield* undone.pipe(
      Effect.provideService(CurrentTransaction, surround()),
      Effect.catch(Effect.die)
    )
    return yield* decodeEach(Arr.zip(rows, outcomes), ([row, outcome]) =>
      staged(row, outcome, after.get(outcome.uuid ?? ""), before, relations)
    )
  })

  return { first, attempt }
}
