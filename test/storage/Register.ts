import type { Effect } from "effect"
import type { Storage } from "../../src/storage/Storage.ts"

/** What not every store of the tests can do. */
export type Ability =
  | "answers for its bucket"
  | "sends the first byte alone"
  | "tells which parts have arrived"
  | "tells which uploads are open"
  | "aborts uploads"
  | "refuses wrong parts"
  | "completes twice"
  | "checks addresses"

/** Adds a test for the stores that can do what it needs. */
export type Register = (
  needed: Ability | "always",
  title: string,
  test: () => Effect.Effect<void, unknown, Storage>
) => void
