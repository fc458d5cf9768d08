import { Context } from "effect"

/** Whose part of the service's resources some work takes. */
export interface Share {
  /** The uuid of the key that the work counts for; empty for the service's own work. */
  readonly id: string
  /** How many times the part of a key it may take. */
  readonly weight: number
  /** Whether no other share had a request within the last second. */
  readonly isAlone: () => boolean
  /** Whether it goes before the others: all keys wait for its work, so it does not count as one of them. */
  readonly isFirst?: boolean
}

/** The share of the work that all keys wait for, such as sealing. Its statements are few. */
export const firstShare: Share = { id: "first", weight: 1, isAlone: () => true, isFirst: true }

/** The share of the current work. */
export const CurrentShare = Context.Reference<Share>("waypost/domain/keys/Share/CurrentShare", {
  defaultValue: () => ({ id: "", weight: 1, isAlone: () => true })
})
