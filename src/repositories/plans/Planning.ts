import { Effect, Result, Semaphore, Stream } from "effect"
import { type Json, memberOf, objectOf } from "../../domain/schema/Json.ts"
import type { Permission } from "../../domain/keys/Permission.ts"
import type { Ignore } from "../../domain/plans/IgnoredPaths.ts"
import { limits, type PlanId } from "../../domain/plans/Plan.ts"
import type { Condition } from "../../domain/query/FilterConditions.ts"
import { noPrecondition } from "../../domain/query/Precondition.ts"
import { InvalidRequestError, type Issue } from "../../domain/write/RequestErrors.ts"
import type { Comparison } from "../../sql/batch/BatchTypes.ts"
import { atAnyTime } from "../../sql/connections/FairPermits.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { locksRelations } from "../bulk/Bulk.ts"
import { decodeEach } from "../../domain/write/DecodeEach.ts"
import type { DecodedOperation } from "../bulk/Decoding.ts"
import type { BulkResource } from "../bulk/Resource.ts"
import { maxSmallBytes } from "../../sql/lists/AnswerSizes.ts"
import * as Attempts from "./Attempts.ts"
import type { Connections } from "./Connections.ts"
import * as FileChunks from "./FileChunks.ts"
import { duplicate, leaves, lengthOf, outsideFilter, textOf } from "./RowForms.ts"
import * as Records from "./PlanRecords.ts"
import * as Statements from "./PlanStatements.ts"

export interface Options {
  readonly plan: PlanId
  readonly filter: ReadonlyArray<Condition>
  readonly ignore: Ignore
  readonly requestId: string
  /** What an operation needs in addition to the permissions of the plan. */
  readonly demandsOf: (operation: DecodedOperation) => ReadonlyArray<Permission>
  /** Fails if the plans of the key have too many bytes with those that are staged. */
  readonly checkBytes: (staged: number) => Effect.Effect<void, InvalidRequestError>
}

/** A row whose key is known. */
interface Keyed {
  readonly place: number
  readonly row: number
  readonly key: string
  readonly data: Result.Result<Json, ReadonlyArray<Issue>>
}

/** The deletions of a plan that leaves the records which no row names. */
export const noDeletions = { rows: 0, refused: 0 }

/** Compares a file with a collection, and stores what would change. Nothing else is written. */
export const make = (
  { concurrency, filtered, largePages, pooled }: Connections,
  resource: BulkResource,
  comparison: Comparison,
  { checkBytes, demandsOf, filter, ignore, plan, requestId }: Options
) => {
  const { batch, create, patch } = resource
  const { attempt, first } = Attempts.make(pooled, resource, comparison, requestId)
  const member = batch.key!
  const rowsByKey = new Map<string, number>()
  const demanded = new Set<Permission>()
  const oneLarge = Semaphore.makeUnsafe(1)
  let places = 0
  let staged = 0
  let checked = 0
  let unreadable: number | undefined

  /** The key of a record; a record without a valid one has all issues of its creation. */
  const keyOf = (data: unknown): Result.Result<string, InvalidRequestError> => {
    const sent = memberOf(data, member)
    const decoded =
      sent === undefined || sent === null
        ? Result.fail(InvalidRequestError.inBody(member, "required", "Required"))
        : Result.map(patch({ [member]: sent }), (decoded) => String(memberOf(decoded, member)))
    if (data === undefined) return decoded
    return Result.orElse(decoded, (error) => Result.flatMap(create(data), () => Result.fail(error)))
  }

  /** Finds the records of the rows and decodes what they change; `refused` are those that cannot. */
  const prepare = Effect.fnUntraced(function* ({ length, rows }: FileChunks.FileChunk) {
    const refused: Array<Statements.StagedRow> = []
    const refuse = (
      {
        found,
        place,
        row
      }: { readonly place: number; readonly row: number; readonly found?: Statements.Found | undefined },
      key: string,
      issues: ReadonlyArray<Issue>
    ) => {
      const record = found?.uuid ?? undefined
      refused.push({ place, row, key, compared: "", kind: "refused", record, changes: [], issues })
    }
    const keyed: Array<Keyed> = []
    yield* decodeEach(rows, ({ data, named, row }) => {
      const place = places++
      const record = Result.getOrElse(data, () => named)
      const key = keyOf(record)
      if (Result.isSuccess(key)) keyed.push({ place, row, key: key.success, data: Result.map(data, objectOf) })
      else {
        // The file may name any record here: a row without a key does only if it could not be read.
        const sent = memberOf(record, member)
        if (sent === undefined ? Result.isFailure(data) : sent !== null) unreadable ??= row
        refuse({ place, row }, textOf(record, member), Result.isFailure(data) ? data.failure : key.failure.issues)
      }
    })
    const located =
      keyed.length === 0 ? [] : yield* filtered((client) => Statements.find(client, comparison, filter, keyed))
    const byPlace = new Map(located.map((one) => [one.place, one]))
    const prepared: Array<Attempts.Prepared> = []
    yield* decodeEach(keyed, ({ data, key, place, row }) => {
      const at = byPlace.get(place)!
      const found = at.uuid === null ? undefined : at
      const earlier = rowsByKey.get(at.compared)
      if (earlier !== undefined) return refuse({ place, row, found }, key, [duplicate(member, earlier, row)])
      rowsByKey.set(at.compared, row)
      if (Result.isFailure(data)) return refuse({ place, row, found }, key, data.failure)
      if (found?.isWithin === false) return refuse({ place, row, found }, key, [outsideFilter(member)])
      const sent = found === undefined ? data.success : ignore(data.success)
      const decoded = (found === undefined ? create : patch)(sent)
      if (Result.isFailure(decoded)) return refuse({ place, row, found }, key, decoded.failure.issues)
      const operation: DecodedOperation =
        found === undefined
          ? { op: "create", payload: decoded.success }
          : { op: "update", uuid: found.uuid!, payload: decoded.success, precondition: noPrecondition }
      prepared.push({ place, row, key, compared: at.compared, data: sent, found, operation })
    })
    return { length, prepared, refused }
  })

  /** Stores rows, and counts the bytes of their changes. */
  const stage = Effect.fnUntraced(function* (rows: ReadonlyArray<Statements.StagedRow>) {
    if (rows.length === 0) return
    staged += rows.reduce((bytes, { changes }) => bytes + lengthOf(changes), 0)
    if (staged - checked > maxSmallBytes) {
      checked = staged
      yield* checkBytes(staged)
    }
    yield* Statements.stage(pooled, plan, rows)
  })

  const compare = Effect.fnUntraced(function* (
    { length, prepared, refused }: Effect.Success<ReturnType<typeof prepare>>,
    begin: Attempts.Begin
  ) {
    yield* stage(refused)
    for (let rest = prepared; rest.length > 0;) {
      const compared = yield* first(rest)
      const isLarge = compared.bytes + length > maxSmallBytes
      const part = Effect.tap(attempt(compared, begin, isLarge ? largePages : atAnyTime), stage)
      const done = yield* isLarge ? oneLarge.withPermit(part) : part
      rest = rest.slice(done.length)
    }
    for (const { operation } of prepared) for (const permission of demandsOf(operation)) demanded.add(permission)
    return prepared.some(({ operation }) => locksRelations(batch, { operations: [operation] }))
  })

  /** Stages the deletions of the records of a part that no row names, and counts them. */
  const stagePart = Effect.fnUntraced(function* (part: Fragment, deletions: { rows: number }) {
    let last: Records.Unnamed | undefined
    do {
      const request = { filter, plan, part, after: last, limit: FileChunks.maxRows }
      const records = yield* filtered((client) => Records.unnamed(client, comparison, request))
      const rows = yield* decodeEach(records, ({ compared, editedAt, json, key, uuid }): Statements.StagedRow => ({
        place: places++,
        key,
        compared,
        kind: "delete",
        record: uuid,
        editedAt,
        changes: leaves(json, undefined)
      }))
      deletions.rows += rows.length
      if (deletions.rows > limits.rows) return yield* tooManyDeletions
      yield* stage(rows)
      last = records.at(-1)
    } while (last?.isFollowed)
  })

  /**
   * Deletions of the records that no row names, and how many of them are refused; none if it is not known which record a row names.
   */
  const stageDeletions = Effect.fnUntraced(function* () {
    const all = { ...noDeletions }
    if (unreadable !== undefined) return all
    const { deletions } = comparison
    if (deletions === undefined) yield* stagePart(sql`true`, all)
    else {
      yield* stagePart(deletions.isFirst, all)
      yield* stagePart(sql`not ${deletions.isFirst}`, all)
      all.refused = yield* Statements.refuseDeletions(pooled, deletions, plan)
    }
    return all
  })

  return {
    /** Compares the rows, and returns whether one writes rows of join tables. */
    compareAll: <E>(rows: Stream.Stream<Statements.FileRow, E>) =>
      Effect.gen(function* () {
        const begin = yield* batch.trials ?? Effect.undefined
        return yield* FileChunks.chunksOf(rows).pipe(
          Stream.mapEffect(prepare),
          Stream.mapEffect((prepared) => compare(prepared, begin), { concurrency, unordered: true }),
          Stream.runFold(
            () => false,
            (some, one) => some || one
          )
        )
      }),
    stageDeletions,
    /** How many bytes the changes have. */
    bytes: () => staged,
    /** The first row whose key cannot be read. */
    unreadable: () => unreadable,
    /** The permissions that the rows need. */
    demanded: () => [...demanded]
  }
}

const tooManyDeletions = InvalidRequestError.at(
  "query",
  "mode",
  "tooMany",
  `Expected at most ${limits.rows} records that the file does not name; choose some of them with filter`
)
