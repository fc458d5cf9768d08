import { type Case, casesOf, relationCases, searchCases, type Side } from "./cases.ts"
import { collections } from "./collections.ts"
import { cursorCases, selectionCases } from "./pages.ts"
import { placeCases } from "./places.ts"
import { readinessCases } from "./readiness.ts"
import { territoryCases } from "./territories.ts"

/** The parts of the benchmark, and the requests of each at one size. */
export const parts: Readonly<Record<string, (side: Side) => Promise<ReadonlyArray<Case>>>> = {
  ...Object.fromEntries(Object.keys(collections).map((name) => [name, (side: Side) => casesOf(side, name)])),
  relations: relationCases,
  search: searchCases,
  places: placeCases,
  territories: territoryCases,
  readiness: readinessCases,
  selections: selectionCases,
  cursors: cursorCases
}
