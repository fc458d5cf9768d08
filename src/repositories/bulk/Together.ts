import { Effect, Option, Result } from "effect"
import type { SqlClient } from "effect/sql"
import { isUuid } from "../../domain/schema/Fields.ts"
import type { Batch, Located } from "../../sql/batch/BatchTypes.ts"
import type { Values } from "../../sql/RecordValues.ts"
import { isViolation } from "../../sql/SqlErrors.ts"
import type { DecodedOperation } from "./Decoding.ts"
import type { Outcomes } from "./Outcomes.ts"
import type { BulkResource } from "./Resource.ts"
import * as Segments from "./Segments.ts"

interface Creation {
  readonly index: number
  readonly values: Values
}
interface Patch extends Creation {
  readonly uuid: string
}

/** The operations of a segment, by the statement that does them. */
interface Division {
  readonly created: ReadonlyArray<Creation>
  /** Patches of the same members. */
  readonly patched: ReadonlyArray<ReadonlyArray<Patch>>
  /** What is left to the operations on one record. */
  readonly left: ReadonlyArray<number>
  /** How many operations it has: those up to the first that depends on the order. */
  readonly taken: number
}

/** Writes with one statement; one that breaks a rule is written by `again`, and then in halves. Returns what was left out. */
const writeAll = <T extends { readonly index: number }>(
  pooled: SqlClient.SqlClient,
  outcomes: Outcomes,
  items: ReadonlyArray<T>,
  write: (items: ReadonlyArray<T>) => ReturnType<Batch["insert"]>,
  again = write
): Effect.Effect<ReadonlyArray<number>, unknown> =>
  pooled.withTransaction(write(items)).pipe(
    Effect.map((written) =>
      items.flatMap(({ index }, place) => {
        const one = written[place]
        if (one !== undefined) outcomes.accept(index, one)
        return one === undefined ? [index] : []
      })
    ),
    Effect.catchIf(isViolation, () => {
      if (again !== write) return writeAll(pooled, outcomes, items, again)
      if (items.length === 1) return Effect.succeed([items[0]!.index])
      const middle = items.length >> 1
      const half = (items: ReadonlyArray<T>) => writeAll(pooled, outcomes, items, write)
      return Effect.zipWith(half(items.slice(0, middle)), half(items.slice(middle)), (left, right) => [
        ...left,
        ...right
      ])
    })
  )

/** The statements for the segments of a request. */
export const make = (
  pooled: SqlClient.SqlClient,
  { batch, create, patch }: BulkResource,
  operations: ReadonlyArray<DecodedOperation>,
  outcomes: Outcomes
) => {
  /** The values that a creation or a patch stores; `undefined` if its rules need the database. */
  const valuesOf = Effect.fnUntraced(function* (
    operation: Extract<DecodedOperation, { readonly op: "create" | "update" | "upsert" }>,
    isCreation: boolean
  ) {
    const payload =
      operation.op === "upsert"
        ? yield* Effect.fromResult((isCreation ? create : patch)(operation.data))
        : operation.payload
    return Option.getOrUndefined(
      yield* Effect.option(isCreation ? batch.prepareCreate(payload) : batch.preparePatch(payload))
    )
  })

  /** The operations that relate their record to one that does not exist, which their operation on one record rejects. */
  const unrelatable = Effect.fnUntraced(function* (indexes: ReadonlyArray<number>) {
    const found = new Set<number>()
    for (const member of batch.relations) {
      const sent = indexes.flatMap((index) => {
        const uuids = Segments.valueOf(operations[index]!, member)
        // The data of an upsert is not decoded yet.
        return Array.isArray(uuids) && uuids.every(isUuid) ? [{ index, uuids }] : []
      })
      const uuids = new Set(sent.flatMap(({ uuids }) => uuids))
      const missing = new Set(uuids.size === 0 ? [] : yield* batch.missing(member, [...uuids]))
      for (const { index, uuids } of sent) if (uuids.some((uuid) => missing.has(uuid))) found.add(index)
    }
    return found
  })

  const divide = Effect.fnUntraced(function* (
    indexes: ReadonlyArray<number>,
    located: ReadonlyMap<number, Located>,
    rejected: ReadonlySet<number>
  ): Effect.fn.Return<Division> {
    const created: Array<Creation> = []
    const patched = new Map<string, Array<Patch>>()
    const left: Array<number> = []
    /** The records that are patched, and what the new ones alone have. */
    const seen = new Set<string>()
    let taken = 0
    for (const index of indexes) {
      const operation = operations[index]!
      const record = located.get(index)
      // What an operation before it creates decides whether this one creates or patches, and which rule it breaks.
      const isNewKey = operation.op === "upsert" && record === undefined
      if (isNewKey && seen.has(Segments.identityBy(batch.key!, operation.key))) break
      if (operation.op === "rejected") outcomes.reject(index, operation.error)
      else if (operation.op === "delete" || (operation.op === "update" && record === undefined)) left.push(index)
      else if (rejected.has(index)) left.push(index)
      else {
        const decoded = yield* Effect.result(valuesOf(operation, record === undefined))
        if (Result.isFailure(decoded)) outcomes.reject(index, decoded.failure)
        else {
          const values = decoded.success
          if (values === undefined) break
          if (record === undefined) {
            const identities = Segments.identitiesOf(values, batch.unique)
            if (identities.some((identity) => seen.has(identity))) break
            for (const identity of identities) seen.add(identity)
            created.push({ index, values })
          } else {
            const { uuid } = record
            if (seen.has(uuid) || Segments.changesUnique(record, values)) break
            seen.add(uuid)
            const members = Segments.membersOf(values)
            const same = patched.get(members) ?? []
            same.push({ index, uuid, values })
            patched.set(members, same)
          }
        }
      }
      taken++
    }
    return { created, patched: [...patched.values()], left, taken }
  })

  const locate = Effect.fnUntraced(function* (indexes: ReadonlyArray<number>) {
    const named = indexes.flatMap((index) => {
      const target = Segments.targetOf(operations[index]!)
      return target === undefined ? [] : [{ index, target }]
    })
    const found = named.length === 0 ? [] : yield* batch.locate(named.map(({ target }) => target))
    return new Map(
      named.flatMap(({ index }, place) => {
        const one = found[place]
        return one === undefined ? [] : [[index, one] as const]
      })
    )
  })

  return {
    /** Creates and patches different records. Returns how many operations it did, and which of them it left. */
    write: Effect.fnUntraced(function* (indexes: ReadonlyArray<number>) {
      const { created, left, patched, taken } = yield* divide(
        indexes,
        yield* locate(indexes),
        yield* unrelatable(indexes)
      )
      const all = [...left]
      const insert = (skipsTaken: boolean) => (items: ReadonlyArray<Creation>) =>
        batch.insert(
          items.map(({ values }) => values),
          { skipsTaken }
        )
      if (created.length > 0) all.push(...(yield* writeAll(pooled, outcomes, created, insert(false), insert(true))))
      for (const patches of patched) all.push(...(yield* writeAll(pooled, outcomes, patches, batch.patch)))
      return { taken, left: all.toSorted((a, b) => a - b) }
    }),
    /** Deletes different records; the same. */
    remove: Effect.fnUntraced(function* (indexes: ReadonlyArray<number>) {
      const items = indexes.flatMap((index) => {
        const operation = operations[index]!
        if (operation.op === "rejected") outcomes.reject(index, operation.error)
        return operation.op === "delete" ? [{ index, uuid: operation.uuid }] : []
      })
      const remove = (items: ReadonlyArray<{ readonly uuid: string }>) => batch.remove(items.map(({ uuid }) => uuid))
      return { taken: indexes.length, left: yield* writeAll(pooled, outcomes, items, remove) }
    })
  }
}
