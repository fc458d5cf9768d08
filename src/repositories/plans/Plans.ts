import { Context, Effect, Layer, type Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Pagination } from "../../domain/query/Pagination.ts"
import { pagination } from "../../domain/query/Pagination.ts"
import type { Encoded } from "../../domain/schema/Encoded.ts"
import type { Ignore } from "../../domain/plans/IgnoredPaths.ts"
import {
  limits,
  type Plan,
  type PlanChange,
  PlanId,
  PlanNotFoundError,
  type PlanMode,
  type PlanResource
} from "../../domain/plans/Plan.ts"
import { type RecordType, seesRelation } from "../../domain/changes/RecordType.ts"
import { relationKinds } from "../../domain/write/Relations.ts"
import type { Condition } from "../../domain/query/FilterConditions.ts"
import type { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import * as Written from "../../domain/write/Written.ts"
import type { BulkResource } from "../bulk/Resource.ts"
import type { Permission } from "../../domain/keys/Permission.ts"
import { SqlError } from "effect/sql"
import { timestampJson } from "../../sql/Columns.ts"
import { sql } from "../../sql/Fragment.ts"
import { tooMuch } from "../../sql/lists/Listing.ts"
import { maxAnswerBytes, oneByOne } from "../../sql/lists/AnswerSizes.ts"
import * as PageCost from "../../sql/lists/PageCost.ts"
import { Sql } from "../../sql/Sql.ts"
import { correct } from "../../sql/Statistics.ts"
import { traced } from "../../sql/Traced.ts"
import * as Applying from "./Applying.ts"
import * as Connections from "./Connections.ts"
import { guardsOf } from "./Guards.ts"
import * as OpenPlans from "./OpenPlans.ts"
import * as Planning from "./Planning.ts"
import * as PlanRemoval from "./PlanRemoval.ts"
import * as Statements from "./PlanStatements.ts"

export interface PlanRequest {
  readonly resource: PlanResource
  readonly mode: PlanMode
  readonly ignore: Ignore
  /** Percent of the compared records that may be deleted. */
  readonly maxDeletes: number
  readonly filter: ReadonlyArray<Condition>
  /** The key in whose share the plan counts. */
  readonly owner: string
  readonly requestId: string
}

/** What rows need in addition to the permissions of the plan. */
export interface Demands<E> {
  readonly of: Planning.Options["demandsOf"]
  readonly check: (permissions: ReadonlyArray<Permission>) => Effect.Effect<void, E>
}

/** The rows of a file, and how many bytes of it were read. */
export interface PlanFile<E> {
  readonly rows: Stream.Stream<Statements.FileRow, E>
  readonly bytes: () => number
}

interface ChangesRequest {
  readonly kind?: string | undefined
  readonly limit: number
  readonly page: number
  /** The types that the reader sees. */
  readonly visible: ReadonlySet<RecordType>
}

/** The plans, in PostgreSQL. */
export class Plans extends Context.Service<
  Plans,
  {
    create<E, E2>(
      resource: BulkResource,
      request: PlanRequest,
      file: PlanFile<E>,
      demands: Demands<E2>
    ): Effect.Effect<{ readonly uuid: PlanId; readonly json: Encoded<Plan> }, E | E2 | InvalidRequestError>
    get(uuid: PlanId): Effect.Effect<Encoded<Plan>, PlanNotFoundError>
    /** What permissions of a plan depend on. */
    find(uuid: PlanId): Effect.Effect<Applying.PlanFacts, PlanNotFoundError>
    changes(
      uuid: PlanId,
      request: ChangesRequest
    ): Effect.Effect<{ readonly data: Encoded<ReadonlyArray<PlanChange>>; readonly pagination: Pagination }>
    readonly apply: Applying.Apply
    delete(uuid: PlanId): Effect.Effect<Written.Written<"plans", PlanId>, PlanNotFoundError>
    /** Removes the plans that have expired, and the unchanged rows of those that are applied. */
    readonly prune: Effect.Effect<void>
  }
>()("waypost/repositories/plans/Plans") {
  static readonly layer = Layer.effect(
    Plans,
    Effect.gen(function* () {
      const database = yield* Sql
      const { largePages, pooled } = database
      const cost = PageCost.make()

      const isLive = sql`p.created_at > now() - make_interval(hours => ${limits.hours}::int)`
      const { begin, checkBytes, finish } = OpenPlans.make(pooled, isLive)
      const { prune, remove } = PlanRemoval.make(pooled, isLive)

      const get = Effect.fnUntraced(function* (uuid: PlanId) {
        const [row] = yield* Effect.orDie(pooled<{ readonly json: Encoded<Plan> }>`
          select ${planJson} as json from plans p where p.uuid = ${uuid}::uuid and p.is_ready and ${isLive}`)
        return row === undefined ? yield* PlanNotFoundError.of(uuid) : row.json
      })

      const find = Effect.fnUntraced(function* (uuid: PlanId) {
        const [row] = yield* Effect.orDie(pooled<Applying.PlanFacts>`
          select ${Applying.factsSql} from plans p where p.uuid = ${uuid}::uuid and p.is_ready and ${isLive}`)
        return row === undefined ? yield* PlanNotFoundError.of(uuid) : row
      })

      const create = Effect.fnUntraced(function* <E, E2>(
        resource: BulkResource,
        request: PlanRequest,
        { bytes, rows }: PlanFile<E>,
        demands: Demands<E2>
      ) {
        const uuid = PlanId.make(SecureRandom.uuidV7Unsafe())
        yield* begin(uuid, request)
        const { filter, ignore, maxDeletes, mode, owner, requestId } = request
        const connections = yield* Connections.make(database, filter)
        const comparison = resource.batch.comparison!
        const planning = Planning.make(connections, resource, comparison, {
          plan: uuid,
          filter,
          ignore,
          requestId,
          demandsOf: demands.of,
          checkBytes: (staged) => checkBytes(uuid, owner, bytes() + staged)
        })
        return yield* Effect.gen(function* () {
          yield* correct(pooled)
          const locks = yield* planning.compareAll(rows)
          const permissions = planning.demanded()
          yield* demands.check(permissions)
          const staged = mode === "full" ? yield* planning.stageDeletions() : Planning.noDeletions
          const [counted] = yield* connections.filtered((client) => Statements.count(client, comparison, filter, uuid))
          const { counts, records } = counted!
          yield* finish(uuid, owner, {
            bytes: bytes() + planning.bytes(),
            counts,
            guards: guardsOf(counts, {
              records,
              maxDeletes,
              kept: staged.refused,
              unreadable: mode === "full" ? planning.unreadable() : undefined
            }),
            options: { locks: locks || staged.rows > 0, permissions }
          })
          return { uuid, json: yield* Effect.orDie(get(uuid)) }
        }).pipe(
          Effect.onError(() => Effect.ignore(remove(uuid))),
          Effect.catch((error) => (SqlError.isSqlError(error) ? Effect.die(error) : Effect.fail(error)))
        )
      })

      const changes = Effect.fnUntraced(function* (uuid: PlanId, { kind, limit, page, visible }: ChangesRequest) {
        const chosen = sql`p.plan = ${uuid}::uuid and ${kind === undefined ? sql`p.kind <> 'unchanged'` : sql`p.kind = ${kind}::text`}`
        const places = sql`
          select array_agg(place) as keys from (select p.place from plan_rows p where ${chosen}
            order by p.place limit ${limit}::bigint offset ${(page - 1) * limit}::bigint) page`
        const read = pooled<{ readonly total: number; readonly json: Encoded<ReadonlyArray<PlanChange>> | null }>`
          select coalesce((select ${totalOf(kind)} from plans p where p.uuid = ${uuid}::uuid), 0) as total, ${oneByOne(
            places,
            (place) =>
              sql`select ${changeJson(visible)} from plan_rows p where p.plan = ${uuid}::uuid and p.place = ${place}`
          )} as json`
        const [row] = yield* Effect.orDie(cost.isLarge(limit) ? largePages(read) : read)
        const { json, total } = row!
        const rows = Math.min(limit, total - (page - 1) * limit)
        if (rows > 0) cost.note(json?.length ?? maxAnswerBytes, rows)
        return { data: json ?? (yield* Effect.die(tooMuch(limit))), pagination: pagination(limit, page, total) }
      })

      return traced(Plans, {
        get,
        find,
        create,
        changes,
        apply: Applying.make(pooled, isLive),
        delete: Effect.fnUntraced(function* (uuid) {
          const isRemoved = yield* Effect.orDie(remove(uuid))
          return isRemoved ? Written.deleted("plans", uuid) : yield* PlanNotFoundError.of(uuid)
        }),
        prune
      })
    })
  )
}

const planJson = sql`json_strip_nulls(json_build_object('uuid', p.uuid, 'resource', p.resource, 'mode', p.mode,
  'state', case when p.applied_at is null then 'ready' else 'applied' end, 'counts', p.counts, 'guards', p.guards,
  'expiresAt', ${timestampJson(sql`(p.created_at + make_interval(hours => ${limits.hours}::int))`)},
  'appliedAt', ${timestampJson(sql`p.applied_at`)}))::text`

/** How many changes a plan shows, of one kind or of all. */
const totalOf = (kind: string | undefined) =>
  kind === undefined
    ? sql`(select sum(value::int)::int from jsonb_each_text(p.counts) where key <> 'unchanged')`
    : sql`(p.counts->>${kind}::text)::int`

/** What a reader of these types sees of a row. */
const changeJson = (visible: ReadonlySet<RecordType>) => {
  const hidden = relationKinds.filter((path) => !seesRelation(visible, path))
  const changes =
    hidden.length === 0
      ? sql`p.changes`
      : sql`(select coalesce(jsonb_agg(entry order by listed.place), '[]')
          from jsonb_array_elements(p.changes) with ordinality listed (entry, place)
          where entry->>'path' <> all (${hidden}::text[]))`
  return sql`json_strip_nulls(json_build_object('key', p.key, 'kind', p.kind, 'uuid', p.record, 'row', p.row,
    'changes', ${changes}, 'issues', p.issues))::text`
}
