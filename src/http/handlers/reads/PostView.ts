import { Effect } from "effect"
import { visibility } from "./Visibility.ts"

/** The members of a post that are visible to the calling key. */
export const viewOf = (locale?: string) =>
  Effect.map(visibility, ({ groups, locations }) => ({ groupNames: groups, locationNames: locations, locale }))
