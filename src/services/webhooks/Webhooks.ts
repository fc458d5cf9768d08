import { Context, type Duration, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  type PartialWebhook,
  receives,
  type SecretRotate,
  type SecretRotated,
  Webhook,
  type WebhookCreate,
  type WebhookCreated,
  type WebhookId,
  type WebhookNotFoundError
} from "../../domain/changes/Webhook.ts"
import {
  type CallingKey,
  type MissingPermissionsError,
  requirePermissions,
  type UnauthorizedError
} from "../../domain/keys/ApiKey.ts"
import { defaultOverlapSeconds } from "../../domain/keys/OverlapSeconds.ts"
import type { Selection } from "../../domain/query/Selection.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import { InvalidRequestError, ServiceUnavailableError } from "../../domain/write/RequestErrors.ts"
import { CurrentTransaction } from "../../domain/write/SurroundingTransaction.ts"
import type { Written, WrittenWith } from "../../domain/write/Written.ts"
import { Webhooks as Repository } from "../../repositories/webhooks/Webhooks.ts"
import { Cursors } from "../changes/Cursors.ts"
import { Egress } from "./Egress.ts"
import { shown } from "./Signature.ts"

type ListRequest = Parameters<Repository["Service"]["list"]>[0]
type Rejected = InvalidRequestError | MissingPermissionsError | WebhookNotFoundError

/** How long a lookup of a host may take within a transaction, which holds a connection; replaced in tests. */
export const LookupPatience = Context.Reference<Duration.Input>("waypost/services/webhooks/Webhooks/LookupPatience", {
  defaultValue: () => "1 second"
})

/** The webhooks, their URLs and what keys may do with them. */
export class Webhooks extends Context.Service<
  Webhooks,
  {
    get(uuid: WebhookId, selection?: Selection): Effect.Effect<Encoded<Webhook>, WebhookNotFoundError>
    list(request: ListRequest): Effect.Effect<EncodedPage<Webhook>>
    /** The webhook, for a key that may read everything that it receives. */
    authorized(uuid: WebhookId, key: CallingKey): Effect.Effect<Webhook, WebhookNotFoundError | MissingPermissionsError>
    create(
      webhook: WebhookCreate,
      key: CallingKey
    ): Effect.Effect<
      WrittenWith<"webhooks", WebhookId, WebhookCreated>,
      InvalidRequestError | MissingPermissionsError | UnauthorizedError
    >
    update(
      uuid: WebhookId,
      patch: PartialWebhook,
      precondition: Precondition,
      key: CallingKey
    ): Effect.Effect<Written<"webhooks", WebhookId>, Rejected | UnauthorizedError>
    delete(
      uuid: WebhookId,
      precondition: Precondition
    ): Effect.Effect<Written<"webhooks", WebhookId>, WebhookNotFoundError>
    rotateSecret(
      uuid: WebhookId,
      options: SecretRotate,
      precondition: Precondition,
      key: CallingKey
    ): Effect.Effect<
      WrittenWith<"webhooks", WebhookId, SecretRotated>,
      WebhookNotFoundError | MissingPermissionsError | UnauthorizedError
    >
  }
>()("waypost/services/webhooks/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function* () {
      const repository = yield* Repository
      const cursors = yield* Cursors
      const egress = yield* Egress
      const patience = yield* LookupPatience

      /** A text within a value has its quotation marks escaped, so that only the member itself is replaced. */
      const show = <A>(json: Encoded<A>) =>
        json.replaceAll(
          /"resumeCursor":"(\d+)"/g,
          (_, position) => `"resumeCursor":"${cursors.encode({ position: Number(position) })}"`
        ) as Encoded<A>

      const find = (uuid: WebhookId) => Effect.flatMap(repository.get(uuid), (json) => Effect.orDie(decode(json)))

      const authorized = (uuid: WebhookId, key: CallingKey) =>
        Effect.tap(find(uuid), ({ types }) => authorize(key, types))

      const checkUrl = Effect.fnUntraced(function* (url: string) {
        const isWithin = (yield* CurrentTransaction) !== undefined
        const target = egress.target(url)
        return yield* Effect.catch(
          isWithin ? Effect.timeoutOrElse(target, { duration: patience, orElse: () => notFound }) : target,
          ({ isTransient, message }) =>
            // What a transaction answers may be kept, and this is no answer for long.
            isWithin && isTransient
              ? notFound
              : Effect.fail(InvalidRequestError.inBody("url", "notAllowed", `The URL ${message}`))
        )
      })

      const create = Effect.fn("Webhooks.create")(function* (webhook: WebhookCreate, key: CallingKey) {
        yield* authorize(key, webhook.types)
        yield* checkUrl(webhook.url)
        const secret = newSecret()
        const written = yield* repository.create(webhook, secret, key.uuid)
        return { ...written, answer: { uuid: written.uuid, secret: shown(secret) } }
      })

      /** Nothing if other types or another URL were written concurrently, for which nothing was checked. */
      const updateSeen = Effect.fnUntraced(function* (
        uuid: WebhookId,
        patch: PartialWebhook,
        precondition: Precondition,
        key: CallingKey
      ) {
        const { types, url } = yield* find(uuid)
        const isMoved = patch.url !== undefined && patch.url !== url
        const hasOtherTypes = patch.types !== undefined && patch.types.join() !== types.join()
        if (isMoved || hasOtherTypes || patch.active === true) yield* authorize(key, patch.types ?? types)
        yield* repository.check(uuid, precondition)
        if (isMoved) yield* checkUrl(patch.url)
        return yield* repository.update(uuid, patch, { types, url }, precondition, key.uuid)
      })

      const update = Effect.fn("Webhooks.update")(function* (...request: Parameters<typeof updateSeen>) {
        let written = yield* updateSeen(...request)
        while (written === undefined) written = yield* updateSeen(...request)
        return written
      })

      const rotateSecret = Effect.fn("Webhooks.rotateSecret")(function* (
        uuid: WebhookId,
        { overlapSeconds = defaultOverlapSeconds }: SecretRotate,
        precondition: Precondition,
        key: CallingKey
      ) {
        yield* authorized(uuid, key)
        const secret = newSecret()
        const written = yield* repository.rotate(uuid, secret, { overlapSeconds }, precondition, key.uuid)
        return { ...written, answer: { secret: shown(secret) } }
      })

      return Webhooks.of({
        get: (uuid, selection) => Effect.map(repository.get(uuid, selection), show),
        list: (request) => Effect.map(repository.list(request), ({ data, ...page }) => ({ ...page, data: show(data) })),
        authorized,
        create,
        update,
        delete: (uuid, precondition) => repository.delete(uuid, precondition),
        rotateSecret
      })
    })
  )
}

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Webhook))

const notFound = Effect.die(
  new ServiceUnavailableError({
    message: "The name servers of the host of the URL did not answer, or failed; try again"
  })
)

const newSecret = () => SecureRandom.randomBytesUnsafe(32)

/** A key sees what its webhooks receive. */
const authorize = ({ permissions }: CallingKey, types: ReadonlyArray<string>) =>
  requirePermissions(permissions, receives(types))
