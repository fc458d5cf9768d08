import { Effect } from "effect"
import { CurrentApiKey } from "../../api/Authorization.ts"
import { MissingPermissionsError, missingFrom } from "../../domain/keys/ApiKey.ts"
import type { Permission } from "../../domain/keys/Permission.ts"

/** Checks permissions that a request needs for some of its members, in addition to those of its endpoint. */
export const demand = (...required: ReadonlyArray<Permission | undefined>) =>
  Effect.flatMap(CurrentApiKey, ({ permissions }) => {
    const needed = required.filter((permission) => permission !== undefined)
    const missing = missingFrom(permissions, needed)
    return missing.length === 0 ? Effect.void : Effect.fail(MissingPermissionsError.of(needed, missing))
  })
