import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Entry } from "../../domain/changes/Event.ts"
import type { Outcome } from "../../domain/write/Bulk.ts"
import { make as surround, Surrounding } from "../../domain/write/SurroundingTransaction.ts"
import type { Comparison, Trial, Tried } from "../../sql/batch/BatchTypes.ts"
import { trialSetting } from "../../sql/ChangeSetting.ts"
import { rolledBack } from "../../sql/RolledBack.ts"
import { locksRelations, run } from "../bulk/Bulk.ts"
import type { DecodedOperation } from "../bulk/Decoding.ts"
import type { BulkResource } from "../bulk/Resource.ts"
import * as Statements from "./PlanStatements.ts"
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
  readonly found: Statements.Found | undefined
  readonly operation: DecodedOperation
}

/** What rows would do: computed where that can be, and otherwise found by doing it without its log and undoing it. */
export const make = (
  pooled: SqlClient.SqlClient,
  resource: BulkResource,
  comparison: Comparison,
  requestId: string
) => {
  const { batch } = resource

  /** The JSON of the members that are written, by the uuid of the record. */
  const membersOf = (uuids: ReadonlyArray<string>) =>
    uuids.length === 0
      ? Effect.succeed(new Map<string, string>())
      : Effect.map(
          Statements.read(pooled, comparison, uuids),
          (rows) => new Map(rows.map(({ json, uuid }) => [uuid, json]))
        )

  /** What rows change of the relations of their records, by the places of the rows. */
  const relationsOf = Effect.fnUntraced(function* (prepared: ReadonlyArray<Prepared>) {
    const changes = new Map<number, Array<Entry>>()
    for (const member of batch.relations) {
      const sets = prepared.flatMap(({ found, operation, place }) => {
        const members = setOf(operation, member)
        return members === undefined ? [] : [{ place, uuid: found?.uuid, members }]
      })
      const known = sets.flatMap(({ members, uuid }) => (uuid ? [{ members, uuid }] : []))
      const rows = known.length === 0 ? [] : yield* batch.differing(member, known)
      const differences = new Map(rows.map((row) => [row.uuid, row]))
      for (const { members, place, uuid } of sets) {
        const { added, removed } = differences.get(uuid ?? "") ?? { added: members, removed: [] }
        if (added.length + removed.length === 0) continue
        changes.set(place, [...(changes.get(place) ?? []), { path: member, added, removed }])
      }
    }
    return changes
  })

  const staged = (
    { compared, data, found, key, place, row }: Prepared,
    { error, uuid }: Outcome,
    tried: ReadonlyMap<string, Tried>,
    relations: ReadonlyArray<Entry>
  ) => {
    const base = { place, row, key, compared, record: found?.uuid ?? undefined, editedAt: found?.editedAt ?? undefined }
    if (error !== undefined) return { ...base, kind: "refused" as const, changes: [], issues: issuesOf(error) }
    const written = uuid === undefined ? undefined : tried.get(uuid)
    if (written === undefined) return { ...base, kind: "unchanged" as const, changes: [] }
    const changes = [...leaves(written.before, written.after), ...relations]
    return { ...base, kind: found === undefined ? ("create" as const) : ("update" as const), data, changes }
  }

  return Effect.fnUntraced(function* (prepared: ReadonlyArray<Prepared>, begin: Begin) {
    const operations = prepared.map(({ operation }) => operation)
    const locks = locksRelations(batch, { operations })
    // A transaction that is repeated begins another trial.
    const attempt = Effect.gen(function* () {
      const trial = locks ? undefined : begin?.()
      yield* pooled`select ${trialSetting}`
      const outcomes = yield* run(pooled, { ...resource, batch: { ...batch, ...trial } }, { operations, requestId })
      const all = outcomes.all()
      const tried = new Map(trial?.tried)
      const written = all.flatMap(({ index, uuid }) =>
        uuid !== undefined && outcomes.isChanged(index) && !tried.has(uuid) ? [uuid] : []
      )
      for (const [uuid, after] of yield* membersOf(written)) tried.set(uuid, { after })
      return { outcomes: all, tried }
    })
    const undone = locks
      ? rolledBack(pooled, attempt, (ended) => batch.transaction(ended, { locks }))
      : rolledBack(pooled, attempt)
    const { outcomes, tried } = yield* undone.pipe(
      Effect.provideService(Surrounding, surround()),
      Effect.catch(Effect.die)
    )
    const withoutBefore = prepared.flatMap(({ found }) =>
      found?.uuid && tried.has(found.uuid) && tried.get(found.uuid)!.before === undefined ? [found.uuid] : []
    )
    for (const [uuid, before] of yield* membersOf(withoutBefore)) tried.set(uuid, { ...tried.get(uuid)!, before })
    const relations = yield* relationsOf(prepared)
    return prepared.map((one, index) => staged(one, outcomes[index]!, tried, relations.get(one.place) ?? []))
  })
}
