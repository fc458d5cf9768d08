import { Context } from "effect"
import type { ApiKeyId } from "../keys/ApiKey.ts"

/** Who alters records. */
export type Actor =
  | { readonly type: "apiKey"; readonly uuid: ApiKeyId; readonly requestId: string }
  | { readonly type: "schedule" | "system" | "command" }

/** What the log notes about the alterations of the current work. */
export interface Change {
  readonly actor: Actor
  /** The uuid of the record that the work restores. */
  readonly restores?: string
}

/** The change that the current work makes; the work of the service itself unless something else is provided. */
export const CurrentChange = Context.Reference<Change>("waypost/domain/changes/Actor/CurrentChange", {
  defaultValue: () => ({ actor: { type: "system" } })
})
