import { Result } from "effect"
import { RE2JS } from "re2js"
import * as PatternCost from "../../schema/PatternCost.ts"
import { unless } from "../ModuleFields.ts"

/** The cost of compiling all patterns of a form: some 150 milliseconds, in which the service answers no other request. */
const maxCost = 30_000

interface Field {
  readonly validation?: { readonly pattern?: string }
}

/** The problems of the patterns of a form, by field. A pattern that occurs several times is compiled once. */
export const problemsOf = (fields: ReadonlyArray<Field>) => {
  const valid = new Map<string, boolean>()
  let cost = 0
  return fields.map(({ validation }, index) => {
    const pattern = validation?.pattern
    if (pattern === undefined) return []
    const path = `fields.${index}.validation.pattern`
    if (!valid.has(pattern)) {
      cost += PatternCost.costOf(pattern)
      if (cost > maxCost)
        return unless(
          false,
          path,
          "tooMuch",
          "Expected simpler patterns: those up to this field take too long to compile; use fewer classes of Unicode and ranges"
        )
      valid.set(pattern, Result.isSuccess(Result.try(() => RE2JS.compile(pattern))))
    }
    return unless(
      valid.get(pattern) === true,
      path,
      "invalidPattern",
      "Expected a linear-time (RE2) expression, without look-around and back-references"
    )
  })
}
