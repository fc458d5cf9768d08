import { Result } from "effect"
import { type Listed, type Problem, readList, readValue, skipSpaces } from "./FilterValues.ts"

/**
 * Cuts a filter into `field`, `operator` and `value`, knowing nothing of fields or types.
 *
 * Only the first two colons of a condition separate, because timestamps contain colons. A comma, a backslash or a
 * double quote in a value is escaped with `\`, or the whole value stands in double quotes; without this a location
 * named "Bakker, Utrecht" could not be found.
 */
export interface RawCondition {
  readonly field: string
  readonly operator: string
  readonly value: string
  /** The values of `in`, whose `value` is the text between them. */
  readonly values?: ReadonlyArray<Listed>
  /** The condition as it was sent, and where it and its parts begin in the filter, in characters. */
  readonly text: string
  readonly start: number
  readonly operatorStart: number
  readonly valueStart: number
}

export interface SyntaxProblem {
  readonly message: string
  readonly condition: string
  readonly index: number
  readonly position: number
}

/** The condition that begins at `start`, up to the next comma that stands in no quotes: for messages only. */
const excerpt = (filter: string, start: number): string =>
  /^(?:"(?:\\.|[^"\\])*"|\\.|[^,])*/su.exec(filter.slice(start))?.[0] ?? ""

/** The operator whose value is a list, in any case of letters. */
const takesList = /^(?:not[ \t]+)?in$/i

const readCondition = (
  filter: string,
  start: number
): Result.Result<RawCondition & { readonly end: number }, Problem> => {
  const shape = "A condition has the form field:operator:value"
  const comma = filter.indexOf(",", start)
  const first = filter.indexOf(":", start)
  const second = first === -1 ? -1 : filter.indexOf(":", first + 1)
  const missing = second === -1 || (comma !== -1 && comma < second)
  if (excerpt(filter, start).trim() === "")
    return Result.fail({ message: `The condition is empty. ${shape}`, position: start })
  if (missing) return Result.fail({ message: shape, position: start })
  const field = filter.slice(start, first).trim()
  const operator = filter.slice(first + 1, second).trim()
  if (field === "") return Result.fail({ message: `The field is missing. ${shape}`, position: start })
  if (operator === "") return Result.fail({ message: `The operator is missing. ${shape}`, position: first + 1 })
  const valueStart = skipSpaces(filter, second + 1)
  const at = { start: skipSpaces(filter, start), operatorStart: skipSpaces(filter, first + 1), valueStart }
  const ending = (end: number) => ({ field, operator, text: filter.slice(start, end), ...at, end })
  return takesList.test(operator)
    ? Result.map(readList(filter, valueStart), ({ end, values }) => ({
        ...ending(end),
        value: filter.slice(valueStart, end),
        values
      }))
    : Result.map(readValue(filter, valueStart), ({ end, value }) => ({ ...ending(end), value }))
}

/** Which character is at a position of the text; only one above U+FFFF takes two positions. */
const characters = (text: string) => {
  if (!/[\uD800-\uDBFF]/.test(text)) return (position: number) => position
  const all = Array.from(text)
  const places = all.flatMap((character, place) => Array<number>(character.length).fill(place))
  return (position: number) => places[position] ?? all.length
}

/** All conditions of a filter; an empty filter is invalid and does not mean "all rows". */
export const split = (filter: string): Result.Result<ReadonlyArray<RawCondition>, SyntaxProblem> => {
  const characterOf = characters(filter)
  const conditions: Array<RawCondition> = []
  let start = 0
  for (;;) {
    const condition = readCondition(filter, start)
    if (Result.isFailure(condition)) {
      const { message, position } = condition.failure
      const place = { condition: excerpt(filter, start), index: conditions.length, position: characterOf(position) }
      return Result.fail({ message, ...place })
    }
    const { end, ...raw } = condition.success
    conditions.push({
      ...raw,
      ...(raw.values && { values: raw.values.map((one) => ({ ...one, start: characterOf(one.start) })) }),
      start: characterOf(raw.start),
      operatorStart: characterOf(raw.operatorStart),
      valueStart: characterOf(raw.valueStart)
    })
    if (end >= filter.length) return Result.succeed(conditions)
    start = end + 1
  }
}

/** A value as it is written in a filter: always quoted, so that any text survives. */
export const quote = (value: string): string => `"${value.replaceAll(/["\\]/g, (character) => `\\${character}`)}"`

type Scalar = string | number | boolean

interface Printable {
  readonly field: string
  readonly operator: string
  readonly value: Scalar | ReadonlyArray<Scalar>
  readonly not?: boolean | undefined
}

const isList = (value: Printable["value"]): value is ReadonlyArray<Scalar> => Array.isArray(value)

const printValue = (value: Printable["value"]): string =>
  isList(value) ? `(${value.map((one) => quote(String(one))).join("|")})` : quote(String(value))

/** Writes conditions in the grammar; `Filter.parse` reads them back. */
export const print = (conditions: ReadonlyArray<Printable>): string =>
  conditions
    .map(({ field, not = false, operator, value }) => `${field}:${not ? "not " : ""}${operator}:${printValue(value)}`)
    .join(",")
