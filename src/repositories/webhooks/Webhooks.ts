import { Context, Data, Effect, Layer } from "effect"
import {
  maxWebhooks,
  type PartialWebhook,
  passing,
  type SecretRotate,
  Webhook,
  type WebhookCreate,
  type WebhookId,
  WebhookNotFoundError
} from "../../domain/changes/Webhook.ts"
import { type ApiKeyId, UnauthorizedError } from "../../domain/keys/ApiKey.ts"
import type { Selection } from "../../domain/query/Selection.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import * as Written from "../../domain/write/Written.ts"
import { columnOf } from "../../sql/Columns.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import type { ListRequest } from "../../sql/lists/Listing.ts"
import * as Reads from "../../sql/Reads.ts"
import * as Records from "../../sql/Records.ts"
import { Sql } from "../../sql/Sql.ts"
import { transaction } from "../../sql/Transactions.ts"
import { traced } from "../../sql/Traced.ts"

type WrittenWebhook = Written.Written<"webhooks", WebhookId>

/** The webhooks in PostgreSQL. In the text of a record, `resumeCursor` is a position. */
export class Webhooks extends Context.Service<
  Webhooks,
  {
    get(uuid: WebhookId, selection?: Selection): Effect.Effect<Encoded<Webhook>, WebhookNotFoundError>
    list(request: ListRequest): Effect.Effect<EncodedPage<Webhook>>
    create(
      webhook: WebhookCreate,
      secret: Uint8Array,
      by: ApiKeyId
    ): Effect.Effect<WrittenWebhook, InvalidRequestError | UnauthorizedError>
    /** Ends the request with 412 unless the webhook meets the precondition. */
    check(uuid: WebhookId, precondition: Precondition): Effect.Effect<void, WebhookNotFoundError>
    /** Writes nothing, and returns nothing, if the webhook no longer has the types and the URL that were seen. */
    update(
      uuid: WebhookId,
      patch: PartialWebhook,
      seen: Pick<Webhook, "types" | "url">,
      precondition: Precondition,
      by: ApiKeyId
    ): Effect.Effect<WrittenWebhook | undefined, WebhookNotFoundError | UnauthorizedError>
    delete(uuid: WebhookId, precondition: Precondition): Effect.Effect<WrittenWebhook, WebhookNotFoundError>
    /** The secrets that sign now, in base64, the current one first. */
    secrets(uuid: WebhookId): Effect.Effect<ReadonlyArray<string>>
    /** The secrets before it sign until the overlap ends. */
    rotate(
      uuid: WebhookId,
      secret: Uint8Array,
      options: Required<SecretRotate>,
      precondition: Precondition,
      by: ApiKeyId
    ): Effect.Effect<WrittenWebhook, WebhookNotFoundError | UnauthorizedError>
  }
>()("waypost/repositories/webhooks/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const records = yield* Records.make({
        kind: "webhooks",
        table: "webhooks",
        record: Webhook,
        notFound: WebhookNotFoundError,
        passing,
        computed: {
          resumeCursor: sql`waypost_resume_position(t.uuid)::text`,
          lastSuccessAt: ofState(sql`s.last_success_at`),
          lastFailureAt: ofState(sql`s.last_failure_at`),
          failuresInARow: ofState(sql`s.failures_in_a_row`)
        },
        writeOnly: [columnOf("state", "text"), columnOf("createdBy", "uuid")]
      })
      const written = <A, E>(write: Effect.Effect<A, E>) => transaction(pooled, write)
      const writtenIfSeen = <A, E>(write: Effect.Effect<A, E | Unseen>) =>
        Effect.catchIf(
          written(write),
          (error) => error instanceof Unseen,
          () => Effect.undefined
        )

      const check = (uuid: WebhookId, precondition: Precondition) =>
        precondition === undefined ? Effect.void : records.checkPrecondition(uuid, precondition)

      const addSecret = (uuid: WebhookId, secret: Uint8Array) =>
        pooled`insert into webhook_secrets (webhook_uuid, secret) values (${uuid}, ${secret})`

      /** A key that is revoked leaves no webhook that its revocation does not pause, and learns no secret. */
      const checkActive = Effect.fnUntraced(function* (key: ApiKeyId) {
        const [active] = yield* pooled`select from api_keys where uuid = ${key} and revoked_at is null for share`
        if (active === undefined) return yield* UnauthorizedError.of("revoked")
      })

      const create = Effect.fnUntraced(function* (webhook: WebhookCreate, secret: Uint8Array, by: ApiKeyId) {
        yield* checkActive(by)
        yield* pooled`lock table webhooks in share row exclusive mode`
        const [webhooks] = yield* pooled<{ readonly count: number }>`select count(*)::int as count from webhooks`
        if (webhooks!.count >= maxWebhooks) return yield* tooMany
        const { active = true, ...values } = webhook
        const { uuid } = yield* records.insert({ ...values, state: stateOf(active), createdBy: by })
        yield* addSecret(uuid, secret)
        return Written.created("webhooks", uuid)
      }, written)

      const update = Effect.fnUntraced(function* (
        uuid: WebhookId,
        { active, ...patch }: PartialWebhook,
        seen: Pick<Webhook, "types" | "url">,
        precondition: Precondition,
        by: ApiKeyId
      ) {
        yield* checkActive(by)
        // The lock keeps other processes from delivering the events of the webhook.
        yield* records.lock(uuid, precondition)
        const { types, url } = seen
        const [same] = yield* pooled<{ readonly state: string }>`
          select state from webhooks where uuid = ${uuid} and types = ${types}::text[] and url = ${url}`
        if (same === undefined) return yield* new Unseen()
        const values = active === undefined ? patch : { ...patch, state: stateOf(active) }
        const { changed } = yield* records.patch(uuid, values, undefined)
        yield* pooled`
          update webhook_states s set set_by = ${by} from webhooks w
            where w.uuid = ${uuid} and s.webhook_uuid = w.uuid
              and (w.url, w.types, w.state) is distinct from (${url}::text, ${types}::text[], ${same.state}::text)`
        return Written.updated("webhooks", uuid, changed)
      }, writtenIfSeen)

      const remove = Effect.fnUntraced(function* (uuid: WebhookId, precondition: Precondition) {
        yield* records.lock(uuid, precondition)
        return yield* records.remove(uuid, undefined)
      }, written)

      const rotate = Effect.fnUntraced(function* (
        uuid: WebhookId,
        secret: Uint8Array,
        { overlapSeconds }: Required<SecretRotate>,
        precondition: Precondition,
        by: ApiKeyId
      ) {
        yield* checkActive(by)
        yield* records.lock(uuid, precondition)
        yield* pooled`
          update webhook_secrets set expires_at = least(expires_at, now() + make_interval(secs => ${overlapSeconds}::float8))
            where webhook_uuid = ${uuid}`
        // A receiver reads every signature, so that there must not be arbitrarily many.
        yield* pooled`
          delete from webhook_secrets where webhook_uuid = ${uuid} and (expires_at <= now() or id not in (
            select id from webhook_secrets where webhook_uuid = ${uuid} order by id desc limit ${maxSecrets - 1}::int))`
        yield* addSecret(uuid, secret)
        yield* pooled`
          update webhooks t set secret_rotated_at = greatest(now(), secret_rotated_at + interval '1 millisecond'),
            ${Reads.touched("t")} where uuid = ${uuid}`
        return Written.updated("webhooks", uuid, true)
      }, written)

      return traced(Webhooks, {
        get: records.get,
        list: records.list,
        create,
        check,
        update,
        delete: remove,
        rotate,
        secrets: (uuid) =>
          Effect.map(
            Effect.orDie(
              pooled<{ readonly secrets: ReadonlyArray<string> }>`select ${signing(sql`${uuid}`)} as secrets`
            ),
            ([row]) => row!.secrets
          )
      })
    })
  )
}

/** Rolls a write back, also within another transaction, so that the webhook is no longer locked. */
class Unseen extends Data.TaggedError("Unseen") {}

/** How many secrets sign at the same time at most. */
const maxSecrets = 10

/** The secrets of a webhook that sign now, in base64, the current one first. */
export const signing = (uuid: Fragment): Fragment =>
  sql`array(select encode(c.secret, 'base64') from webhook_secrets c
    where c.webhook_uuid = ${uuid}::uuid and (c.expires_at is null or c.expires_at > now()) order by c.id desc)`

const ofState = (column: Fragment) => sql`(select ${column} from webhook_states s where s.webhook_uuid = t.uuid)`

const stateOf = (active: boolean) => (active ? "active" : "paused")

const tooMany = InvalidRequestError.inBody("", "tooMany", `There are ${maxWebhooks} webhooks; delete one first`)
