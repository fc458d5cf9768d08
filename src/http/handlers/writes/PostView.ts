import { Effect } from "effect"
import { CurrentApiKey } from "../../../api/Authorization.ts"

/** The members of a post that are visible to the calling key. */
export const viewOf = (locale?: string) =>
  Effect.map(CurrentApiKey, ({ permissions }) => ({
    groupNames: permissions.has("read:groups"),
    locationNames: permissions.has("read:locations"),
    locale
  }))
