import { Result } from "effect"
import type { Operator } from "../../domain/query/FilterConditions.ts"
import * as FilterSyntax from "../../domain/query/FilterSyntax.ts"

/** A condition as the address has it. */
export interface Condition {
  readonly field: string
  /** As sent: with `not ` before it, if it is negated. */
  readonly operator: string
  /** The values of `in`, else one value. */
  readonly values: ReadonlyArray<string>
}

/** The conditions of a filter in the grammar of the API; none of a filter that is not in it. */
export const read = (filter: string | undefined): ReadonlyArray<Condition> => {
  if (filter === undefined || filter === "") return []
  const parts = FilterSyntax.split(filter)
  if (Result.isFailure(parts)) return []
  return parts.success.map(({ field, operator, value, values }) => ({
    field,
    operator,
    values: values === undefined ? [value] : values.map((listed) => listed.value)
  }))
}

const negation = /^not\s+/i

/** The filter of conditions, in the grammar of the API. */
export const print = (conditions: ReadonlyArray<Condition>): string | undefined => {
  if (conditions.length === 0) return undefined
  return FilterSyntax.print(
    conditions.map(({ field, operator, values }) => {
      const plain = operator.replace(negation, "") as Operator
      return {
        field,
        operator: plain,
        value: plain === "in" ? values : (values[0] ?? ""),
        ...(negation.test(operator) ? { not: true } : {})
      }
    })
  )
}
