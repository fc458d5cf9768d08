import { Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  type ApiKeyCreate,
  type ApiKeyCreated,
  type ApiKeyId,
  ApiKeyNotFoundError,
  type ApiKeyRotate,
  type CallingKey,
  type MissingPermissionsError,
  requirePermissions,
  type UnauthorizedError
} from "../domain/keys/ApiKey.ts"
import * as ApiKeySecret from "../domain/keys/ApiKeySecret.ts"
import { defaultOverlapSeconds } from "../domain/keys/OverlapSeconds.ts"
import type { Permission } from "../domain/keys/Permission.ts"
import type { Precondition } from "../domain/query/Precondition.ts"
import * as Written from "../domain/write/Written.ts"
import { InvalidRequestError } from "../domain/write/RequestErrors.ts"
import { ApiKeys as Repository } from "../repositories/keys/ApiKeys.ts"
import type { NewKey, StoredCreated } from "../repositories/keys/ApiKeyWrites.ts"
import * as Authentication from "./Authentication.ts"

type WrittenKey = Written.WrittenWith<"apiKeys", ApiKeyId, ApiKeyCreated>

/** Creates, rotates and revokes keys, and authenticates requests by them. */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /**
     * The key of an `Authorization` header; its state is at most a second old, in every process. `client` names who sent it:
     * the first lookups of keys are divided between clients.
     */
    authenticate(header: string, client?: string): Effect.Effect<CallingKey, UnauthorizedError>
    /** The uuid of the key in whose share a key counts. */
    shareOf(uuid: ApiKeyId): Effect.Effect<string>
    /** A key may only grant what it holds itself, and its keys expire with it at the latest. */
    create(
      key: ApiKeyCreate,
      by: CallingKey
    ): Effect.Effect<WrittenKey, UnauthorizedError | MissingPermissionsError | InvalidRequestError>
    /** Without a check of permissions, for the command line. */
    createUnchecked(key: ApiKeyCreate): Effect.Effect<ApiKeyCreated>
    /** The first key of an installation; none if the installation has a key. */
    createFirst(
      permissions: ReadonlyArray<Permission>,
      value: Option.Option<Redacted.Redacted>
    ): Effect.Effect<Option.Option<ApiKeyCreated>>
    /** To end another key sooner than by default, a key needs the permission to revoke it. */
    rotate(
      uuid: ApiKeyId,
      options: ApiKeyRotate,
      precondition: Precondition,
      by: CallingKey
    ): Effect.Effect<
      WrittenKey,
      UnauthorizedError | ApiKeyNotFoundError | MissingPermissionsError | InvalidRequestError
    >
    /** With `descendants`, also every key that the key created, transitively. */
    revoke(
      uuid: ApiKeyId,
      precondition: Precondition,
      options?: { readonly descendants: boolean }
    ): Effect.Effect<Written.Written<"apiKeys", ApiKeyId>, ApiKeyNotFoundError>
  }
>()("waypost/services/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const repository = yield* Repository
      const { authenticate, forget, shareOf } = yield* Authentication.make(repository)

      const insert = Effect.fnUntraced(function* (key: ApiKeyCreate, createdBy?: ApiKeyId) {
        const { reveal, row } = generate({
          name: key.name,
          permissions: [...new Set(key.permissions)],
          expiresAt: key.expiresAt ? DateTime.formatIso(key.expiresAt) : undefined,
          createdBy
        })
        return reveal(yield* repository.insert(row))
      })

      const create = Effect.fn("ApiKeys.create")(function* (key: ApiKeyCreate, by: CallingKey) {
        // A key grants only permissions that it holds.
        yield* requirePermissions(by.permissions, key.permissions)
        if (key.expiresAt && !(yield* DateTime.isFuture(key.expiresAt))) return yield* expiresInThePast
        const answer = yield* insert(key, by.uuid)
        return { ...Written.created("apiKeys", answer.uuid), answer }
      })

      const createFirst = Effect.fn("ApiKeys.createFirst")(function* (
        permissions: ReadonlyArray<Permission>,
        value: Option.Option<Redacted.Redacted>
      ) {
        const key = { name: "First key", permissions, expiresAt: undefined, createdBy: undefined }
        const given = Option.flatMap(value, (text) =>
          Option.map(ApiKeySecret.parse(Redacted.value(text)), (parts) => ({ ...parts, key: Redacted.value(text) }))
        )
        const { reveal, row } = generate(key, ...(Option.isSome(given) ? [given.value] : []))
        return Option.map(yield* repository.insertFirst(row), reveal)
      })

      const rotate = Effect.fn("ApiKeys.rotate")(function* (
        uuid: ApiKeyId,
        options: ApiKeyRotate,
        precondition: Precondition,
        by: CallingKey
      ) {
        const old = yield* Effect.flatMap(repository.findByUuid(uuid), (key) =>
          Effect.fromOption(key, () => ApiKeyNotFoundError.of(uuid))
        )
        const overlapSeconds = options.overlapSeconds ?? defaultOverlapSeconds
        const endsAnother = uuid !== by.uuid && overlapSeconds < defaultOverlapSeconds
        yield* requirePermissions(
          by.permissions,
          endsAnother ? [...old.permissions, "delete:api-keys"] : old.permissions
        )
        const { reveal, row } = generate({
          name: old.name,
          permissions: old.permissions,
          expiresAt: old.expiresAt && DateTime.formatIso(old.expiresAt),
          createdBy: by.uuid
        })
        const successor = yield* repository.replace(uuid, overlapSeconds, row, precondition)
        yield* forget(old.prefix.slice(ApiKeySecret.prefixOf("").length))
        if (Option.isNone(successor)) return yield* notActive
        const answer = reveal(successor.value)
        return { ...Written.updated("apiKeys", uuid, true), also: [Written.created("apiKeys", answer.uuid)], answer }
      })

      const revoke = Effect.fn("ApiKeys.revoke")(function* (
        uuid: ApiKeyId,
        precondition: Precondition,
        { descendants } = { descendants: false }
      ) {
        const { ids, ...written } = yield* descendants
          ? repository.revokeAll(uuid, precondition)
          : repository.revoke(uuid, precondition)
        yield* Effect.forEach(ids, forget, { discard: true })
        return written
      })

      return ApiKeys.of({
        authenticate,
        shareOf,
        create,
        createUnchecked: (key) => Effect.orDie(insert(key)),
        createFirst,
        rotate,
        revoke
      })
    })
  )
}

const generate = (
  key: Pick<NewKey, "name" | "permissions" | "expiresAt" | "createdBy">,
  parts = ApiKeySecret.format(SecureRandom.randomBytesUnsafe(16), SecureRandom.randomBytesUnsafe(32))
) => ({
  row: {
    ...key,
    id: parts.id,
    prefix: ApiKeySecret.prefixOf(parts.id),
    secretHash: Authentication.hashOf(parts.secret)
  },
  reveal: (created: StoredCreated): ApiKeyCreated => ({ ...created, key: parts.key })
})

const expiresInThePast = InvalidRequestError.inBody("expiresAt", "outOfRange", "expiresAt must be in the future")

const notActive = InvalidRequestError.at(
  "path",
  "uuid",
  "notActive",
  "Only an active key can be rotated; this one was replaced, revoked or has expired"
)
