import { Effect, type Result, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Api } from "../../api/Api.ts"
import { CurrentApiKey } from "../../api/Authorization.ts"
import { visibleTo } from "../../domain/changes/RecordType.ts"
import type { Entity, Permission } from "../../domain/keys/Permission.ts"
import { limits, type PlanId, type PlanMode, type PlanResource } from "../../domain/plans/Plan.ts"
import * as Filter from "../../domain/query/Filter.ts"
import { defaults } from "../../domain/query/Pagination.ts"
import { Plans } from "../../repositories/plans/Plans.ts"
import * as Written from "../../domain/write/Written.ts"
import { checkPrecondition } from "../../sql/EntityTag.ts"
import * as IgnoredPaths from "../../domain/plans/IgnoredPaths.ts"
import * as PlanFile from "../../services/plans/PlanFile.ts"
import { audited } from "../transport/AuditLog.ts"
import { CurrentRequestId } from "../transport/CurrentRequest.ts"
import { demand } from "../transport/Authorization.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"
import * as SlowBody from "../streams/SlowBody.ts"
import { BulkResources } from "./writes/BulkResources.ts"

/** What creating, applying and deleting a plan needs. */
const permissionsOf = (entity: Entity, mode: PlanMode): ReadonlyArray<Permission> => [
  `read:${entity}`,
  `create:${entity}`,
  `update:${entity}`,
  ...(mode === "full" ? [`delete:${entity}` as const] : [])
]

/** What a request decodes to. An error ends it as a defect: with an `Idempotency-Key`, answers to typed errors are kept. */
const decoded = <A, E>(result: Result.Result<A, E>) => Effect.orDie(Effect.fromResult(result))

export const layer = HandlerGroup.group(
  Api,
  "plans",
  Effect.fnUntraced(function* (handlers) {
    const plans = yield* Plans
    const resources = yield* BulkResources
    const slowBody = yield* SlowBody.make

    /** The plan, for a key that may read its resource. */
    const readable = Effect.fnUntraced(function* (uuid: PlanId) {
      const facts = yield* plans.find(uuid)
      yield* demand(`read:${facts.resource}`)
      return facts
    })

    /** The plan, for a key that could make it. */
    const writable = Effect.fnUntraced(function* (uuid: PlanId, request: HttpServerRequest.HttpServerRequest) {
      const facts = yield* plans.find(uuid)
      yield* demand(...permissionsOf(facts.resource, facts.mode), ...facts.permissions)
      const precondition = Envelope.ifMatch(request)
      if (precondition !== undefined) yield* checkPrecondition(precondition, yield* plans.get(uuid))
      return facts
    })

    const create = Effect.fnUntraced(function* (
      query: {
        readonly resource: PlanResource
        readonly mode?: PlanMode
        readonly ignore?: string
        readonly maxDeletes?: number
        readonly filter?: string
      },
      request: HttpServerRequest.HttpServerRequest
    ) {
      const { filter, ignore = "", maxDeletes = 10, mode = "partial", resource: name } = query
      const { definition, demandsOf, fields, planned } = resources[name]
      const conditions = filter === undefined ? [] : yield* decoded(Filter.parse(fields, filter))
      const ignored = yield* decoded(IgnoredPaths.parse(definition.create, ignore))
      yield* demand(...permissionsOf(name, mode))
      const mediaType = (request.headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase()
      const format = yield* Effect.fromOption(PlanFile.formatOf(mediaType), () => PlanFile.unsupported)
      if (Number(request.headers["content-length"] ?? 0) > limits.fileBytes) return yield* PlanFile.tooLarge
      const file = PlanFile.read(format, yield* slowBody.read(request), definition)
      const key = yield* CurrentApiKey
      const creation = plans.create(
        yield* planned,
        {
          resource: name,
          mode,
          maxDeletes,
          ignore: ignored,
          filter: conditions,
          owner: key.share,
          requestId: yield* CurrentRequestId
        },
        { ...file, rows: Stream.orDie(file.rows) },
        {
          of: demandsOf,
          check: (permissions) => Effect.provideService(demand(...permissions), CurrentApiKey, key)
        }
      )
      const { json } = yield* audited(
        Effect.map(creation, ({ json, uuid }) => ({ ...Written.created("plans", uuid), json }))
      )
      return HttpServerResponse.text(`{"_tag":"Success","data":${json}}`, {
        status: 201,
        contentType: "application/json"
      })
    })

    return handlers
      .handleAll({
        get: ({ params: { uuid } }) => Envelope.one(Effect.andThen(readable(uuid), plans.get(uuid))),
        changes: ({ params: { uuid }, query: { kind, limit = defaults.limit, page = defaults.page } }) =>
          Envelope.page(
            Effect.gen(function* () {
              yield* readable(uuid)
              const visible = visibleTo((yield* CurrentApiKey).permissions)
              return yield* plans.changes(uuid, { kind, limit, page, visible })
            })
          ),
        apply: ({ params: { uuid }, payload: { force = false }, request }) =>
          Effect.gen(function* () {
            const facts = yield* writable(uuid, request)
            const resource = yield* resources[facts.resource].planned
            const answer = yield* plans.apply(uuid, facts, resource, { force, requestId: yield* CurrentRequestId })
            return { ...Written.updated("plans", uuid, !facts.isApplied), answer }
          }).pipe(Envelope.writtenAnswer),
        delete: ({ params: { uuid }, request }) =>
          Envelope.written(Effect.andThen(writable(uuid, request), plans.delete(uuid)))
      })
      .handleRaw("create", ({ query, request }) =>
        Effect.catchTag(create(query, request), ["PayloadTooLargeError", "UnsupportedMediaTypeError"], Effect.die)
      )
  })
)
