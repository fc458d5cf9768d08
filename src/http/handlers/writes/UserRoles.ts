import { Effect } from "effect"
import type { User } from "../../../domain/people/User.ts"
import { Settings } from "../../../settings/Config.ts"

/** What setting a role other than the current one needs. */
export const make = Effect.map(
  Settings,
  ({ GUARD_USER_ROLES: guardsRoles }) =>
    (role: unknown, current?: User["role"]) =>
      guardsRoles && role !== undefined && role !== current ? ("update:user-roles" as const) : undefined
)
