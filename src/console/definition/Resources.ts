import definition from "virtual:definition"
import type { Resource } from "./Definition.ts"

/** The resource with a name, which the API has. */
export const resourceNamed = (name: string): Resource =>
  definition.resources.find((resource) => resource.name === name)!

/** The resource whose records have a type in answers, if the console shows it. */
export const resourceOfType = (type: unknown): Resource | undefined =>
  definition.resources.find(({ recordType }) => recordType === type)
