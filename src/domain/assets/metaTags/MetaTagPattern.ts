import { Predicate, Result } from "effect"
import { RE2JS } from "re2js"
import * as PatternCost from "../../schema/PatternCost.ts"
import { remembered } from "../../write/Remembered.ts"

/** What a pattern may grow to: matching the longest text then takes some tens of milliseconds. */
const maxProgramSize = 500

/** What compiling a pattern may cost: some tens of milliseconds. */
const maxCost = 12_500

/**
 * A pattern in RE2's syntax, which can be matched in time linear to the text, or why it is none. The patterns of clients
 * never reach JavaScript's own expressions, of which a short one can keep the process busy for hours.
 */
export const compile = (pattern: string): Result.Result<RE2JS, string> =>
  Result.flatMap(
    PatternCost.costOf(pattern) > maxCost
      ? tooComplex
      : Result.try({
          try: () => RE2JS.compile(pattern),
          catch: (error) => `Expected an RE2 expression; ${Predicate.isError(error) ? error.message : String(error)}`
        }),
    (compiled) =>
      compiled.programSize() <= maxProgramSize
        ? Result.succeed(compiled)
        : Result.fail("Expected a simpler expression; its repetitions multiply to too many steps")
  )

const tooComplex = Result.fail("Expected a simpler expression; its ranges and classes take too long to compile")

/** One with its states has up to 0.5 MB. */
const compiled = remembered(100, compile)

/** Whether the whole text matches; a pattern that does not compile matches nothing. */
export const matches = (pattern: string, text: string): boolean =>
  Result.match(compiled(pattern), { onFailure: () => false, onSuccess: (expression) => expression.testExact(text) })
