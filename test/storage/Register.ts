import type { Effect } from "effect"
import type { Storage } from "../../src/storage/Storage.ts"

/** Abilities that some stores of the tests lack. */
export type Ability =
  | "reports its bucket"
  | "supports one-byte ranges"
  | "lists parts"
  | "lists uploads"
  | "aborts uploads"
  | "rejects wrong parts"
  | "completes twice"
  | "verifies URLs"

/** Adds a test for the stores that have the needed ability. */
export type Register = (
  needed: Ability | "always",
  title: string,
  test: () => Effect.Effect<void, unknown, Storage>
) => void
