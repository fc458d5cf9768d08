import { Effect } from "effect"
import { activate, minimalSettings } from "../requests/ProductRequests.ts"
import { ask, location, on, type Prepared, product } from "./Calls.ts"

const withTemplate = Effect.tap(product, (uuid) => activate(uuid, "template", minimalSettings["template"]))

/** Calls of the operations that say whether data is complete and correct. */
export const qualityCalls: Readonly<Record<string, Prepared>> = {
  "quality.readinessOfProduct": on(withTemplate),
  "quality.readinessOfProduct ModuleNotActiveError": on(product),
  "quality.readinessOfLocation": on(location),
  "quality.ofLocations": ask(),
  "quality.coverage": ask("?locales=nl-NL"),
  "quality.coverage InvalidFilterError": ask("?locales=nl&filter=nonsense"),
  "quality.coverage InvalidLocaleError": ask("?locales=qq-QQ")
}
