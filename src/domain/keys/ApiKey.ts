import { Array as Arr, Effect, Schema } from "effect"
import { ApiError } from "../write/ApiError.ts"
import { atMost } from "../schema/Checks.ts"
import { text, Timestamp, Uuid } from "../schema/Fields.ts"
import { openWords } from "../schema/OpenWords.ts"
import { overlapSeconds } from "./OverlapSeconds.ts"
import { Permission } from "./Permission.ts"
import { notFound, notFoundError } from "../write/NotFound.ts"

export const ApiKeyId = Uuid.pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type

const Permissions = Schema.Array(Permission).check(
  Schema.isMinLength(1, { expected: "at least one permission", code: "tooShort" }),
  atMost(200, "permissions")
)

/** A key, without its secret. */
export const ApiKey = Schema.Struct({
  uuid: ApiKeyId,
  name: text(100).pipe(Schema.annotateEncoded({ examples: ["ERP synchronisation"] })),
  prefix: Schema.String.annotate({ description: "The start of the key, by which it is recognised in logs and lists." }),
  permissions: Schema.Array(Permission),
  createdAt: Timestamp,
  createdByKeyUuid: Schema.optionalKey(ApiKeyId),
  expiresAt: Schema.optionalKey(Timestamp),
  lastUsedAt: Schema.optionalKey(Timestamp).pipe(
    Schema.annotateEncoded({ description: "Written at most once a minute." })
  ),
  revokedAt: Schema.optionalKey(Timestamp),
  replacedByUuid: Schema.optionalKey(ApiKeyId)
}).annotate({ identifier: "ApiKey" })
export type ApiKey = typeof ApiKey.Type

/** What changes about a key without a write. */
export const passing = ["lastUsedAt"] as const satisfies ReadonlyArray<keyof ApiKey>

export const ApiKeyCreate = Schema.Struct({
  name: ApiKey.fields.name,
  permissions: Permissions,
  expiresAt: Schema.optionalKey(Schema.NullOr(Timestamp))
}).annotate({ identifier: "ApiKeyCreate" })
export type ApiKeyCreate = typeof ApiKeyCreate.Type

export const ApiKeyRotate = Schema.Struct({
  overlapSeconds: overlapSeconds("How long the old key stays valid.")
}).annotate({ identifier: "ApiKeyRotate" })
export type ApiKeyRotate = typeof ApiKeyRotate.Type

/** The answer to creating or rotating: the only time the secret is shown. */
export const ApiKeyCreated = Schema.Struct({
  uuid: ApiKeyId,
  key: Schema.String.annotate({ description: "The secret. It is shown this once and stored only as a hash." }),
  name: ApiKey.fields.name,
  prefix: ApiKey.fields.prefix,
  permissions: ApiKey.fields.permissions,
  createdAt: Timestamp,
  expiresAt: Schema.optionalKey(Timestamp)
}).annotate({ identifier: "ApiKeyCreated" })
export type ApiKeyCreated = typeof ApiKeyCreated.Type

export class ApiKeyNotFoundError extends ApiError<ApiKeyNotFoundError>()(...notFoundError("ApiKeyNotFoundError")) {
  static of = (uuid: string) => new ApiKeyNotFoundError(notFound("API key", uuid))
}

const unauthorized = {
  missing: "Send an API key in the Authorization header",
  malformed: "The Authorization header does not hold an API key of the form wp_<id>_<secret>",
  unknown: "No such API key",
  revoked: "This API key was revoked",
  expired: "This API key has expired"
} as const

/** The key is missing, not a key, not known, revoked or expired. */
export class UnauthorizedError extends ApiError<UnauthorizedError>()(
  "UnauthorizedError",
  { message: Schema.String, reason: openWords(["missing", "malformed", "unknown", "revoked", "expired"]) },
  { httpApiStatus: 401 }
) {
  static of = (reason: keyof typeof unauthorized) => new UnauthorizedError({ message: unauthorized[reason], reason })
}

/** The key is valid and lacks permissions. */
export class MissingPermissionsError extends ApiError<MissingPermissionsError>()(
  "MissingPermissionsError",
  { message: Schema.String, required: Schema.Array(Schema.String), missing: Schema.Array(Schema.String) },
  { httpApiStatus: 403 }
) {
  static of = (required: ReadonlyArray<string>, missing: ReadonlyArray<string>) =>
    new MissingPermissionsError({ message: `This API key lacks ${missing.join(", ")}`, required, missing })

  /** For a request that needs one of several permissions. */
  static ofSome = (some: ReadonlyArray<string>) =>
    new MissingPermissionsError({
      message: `This API key has none of ${some.join(", ")}; one of them is needed; which one depends on the request`,
      required: some,
      missing: some
    })
}

/** The key that makes a request, as far as it decides what the request may do. */
export interface CallingKey {
  readonly uuid: ApiKeyId
  /** The uuid of the key in whose share it counts: its own, or that of a key it descends from. */
  readonly share: string
  readonly permissions: ReadonlySet<Permission>
}

/** Fails unless `held` contains every required permission. The error lists the missing ones in the order of `required`. */
export const requirePermissions = (
  held: ReadonlySet<Permission>,
  required: ReadonlyArray<Permission>
): Effect.Effect<void, MissingPermissionsError> => {
  const missing = Arr.dedupe(required.filter((permission) => !held.has(permission)))
  return missing.length === 0 ? Effect.void : Effect.fail(MissingPermissionsError.of(required, missing))
}

export const sortable = ["name", "createdAt", "expiresAt", "lastUsedAt"] as const
