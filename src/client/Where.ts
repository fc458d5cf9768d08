import { Cause } from "effect"
import type { Condition } from "../domain/query/FilterConditions.ts"
import { conditionsOf, problemOf } from "./Filters.ts"
import type { Operations } from "./promise/Types.ts"

type Listed = { [G in keyof Operations]: "list" extends keyof Operations[G] ? G : never }[keyof Operations]

type FilterFor<Group extends Listed> = Operations[Group] extends { readonly list: (query?: infer Query) => unknown }
  ? Query extends { readonly filter?: infer Filter }
    ? Exclude<Filter, string | undefined>
    : never
  : never

/**
 * The conditions of a filter, for the Effect client: `where<"locations">({ name: { contains: "Vries" } })`. Like the constructors
 * of ids it throws for what no request can be made of: with a value that is `undefined` or null, an `IllegalArgumentError`.
 */
export const where = <Group extends Listed>(filter: FilterFor<Group>): ReadonlyArray<Condition> => {
  const problem = problemOf(filter)
  if (problem !== undefined) throw new Cause.IllegalArgumentError(problem)
  return conditionsOf(filter)
}
