import { Effect } from "effect"
import { CurrentApiKey } from "../../api/Authorization.ts"
import { MissingPermissionsError, missingFrom } from "../../domain/keys/ApiKey.ts"
import type { Permission } from "../../domain/keys/Permission.ts"

/** Permissions that only some requests to an endpoint need, because of what they carry. */
export const demand = (...required: ReadonlyArray<Permission | undefined>) =>
  Effect.flatMap(CurrentApiKey, ({ permissions }) => {
    const needed = required.filter((permission) => permission !== undefined)
    const missing = missingFrom(permissions, needed)
    return missing.length === 0 ? Effect.void : Effect.fail(MissingPermissionsError.of(needed, missing))
  })
