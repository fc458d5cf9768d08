import { Effect } from "effect"
import { CurrentApiKey } from "../../../api/Authorization.ts"

/** The kinds of records whose names are visible to the calling key. */
export const visibility = Effect.map(CurrentApiKey, ({ permissions }) => ({
  users: permissions.has("read:users"),
  locations: permissions.has("read:locations"),
  groups: permissions.has("read:groups")
}))
