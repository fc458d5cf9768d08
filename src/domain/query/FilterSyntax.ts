import { Result } from "effect"

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
  /** The condition as it was sent, and where it and its parts begin in the filter. */
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

interface Value {
  readonly value: string
  /** The position after the value: a comma or the end. */
  readonly end: number
}

type Problem = { readonly message: string; readonly position: number }

const isSpace = (character: string | undefined) => character === " " || character === "\t"

const skipSpaces = (filter: string, from: number): number => {
  let position = from
  while (isSpace(filter[position])) position++
  return position
}

const readQuoted = (filter: string, from: number): Result.Result<Value, Problem> => {
  let value = ""
  for (let position = from + 1; position < filter.length; position++) {
    const character = filter[position]!
    if (character === '"') {
      const end = position + 1
      return end === filter.length || filter[end] === ","
        ? Result.succeed({ value, end })
        : Result.fail({ message: "Only a comma may follow the closing quote", position: end })
    }
    if (character === "\\") {
      position++
      const escaped = filter[position]
      if (escaped !== '"' && escaped !== "\\") {
        return Result.fail({ message: 'In a quoted value only \\" and \\\\ are escapes', position: position - 1 })
      }
      value += escaped
    } else value += character
  }
  return Result.fail({ message: "The quoted value has no closing quote", position: from })
}

const readUnquoted = (filter: string, from: number): Result.Result<Value, Problem> => {
  let value = ""
  // Spaces around the value are ignored, but not the ones an escape protects: trimming stops there.
  let kept = 0
  let position = from
  for (; position < filter.length && filter[position] !== ","; position++) {
    const character = filter[position]!
    if (character === '"') {
      return Result.fail({ message: 'Write a double quote in a value as \\", or quote the whole value', position })
    }
    if (character === "\\") {
      position++
      const escaped = filter[position]
      if (escaped !== "," && escaped !== "\\" && escaped !== '"') {
        return Result.fail({
          message: "A backslash escapes a comma, a backslash or a double quote; write \\\\ for one",
          position: position - 1
        })
      }
      value += escaped
      kept = value.length
    } else {
      value += character
      if (!isSpace(character)) kept = value.length
    }
  }
  return kept === 0
    ? Result.fail({ message: 'The value is empty; write "" for empty text', position: from })
    : Result.succeed({ value: value.slice(0, kept), end: position })
}

/** The condition that begins at `start`, up to the next comma that stands in no quotes: for messages only. */
const excerpt = (filter: string, start: number): string =>
  /^(?:"(?:\\.|[^"\\])*"|\\.|[^,])*/su.exec(filter.slice(start))?.[0] ?? ""

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
  const read = filter[valueStart] === '"' ? readQuoted(filter, valueStart) : readUnquoted(filter, valueStart)
  return Result.map(read, ({ end, value }) => ({
    field,
    operator,
    value,
    text: filter.slice(start, end),
    start: skipSpaces(filter, start),
    operatorStart: skipSpaces(filter, first + 1),
    valueStart,
    end
  }))
}

/** All conditions of a filter; an empty filter is refused, never read as "all rows". */
export const split = (filter: string): Result.Result<ReadonlyArray<RawCondition>, SyntaxProblem> => {
  const conditions: Array<RawCondition> = []
  let start = 0
  for (;;) {
    const condition = readCondition(filter, start)
    if (Result.isFailure(condition)) {
      return Result.fail({ ...condition.failure, condition: excerpt(filter, start), index: conditions.length })
    }
    const { end, ...raw } = condition.success
    conditions.push(raw)
    if (end >= filter.length) return Result.succeed(conditions)
    start = end + 1
  }
}

/** A value as it is written in a filter: always quoted, so that any text survives. */
export const quote = (value: string): string => `"${value.replaceAll(/["\\]/g, (character) => `\\${character}`)}"`

interface Printable {
  readonly field: string
  readonly operator: string
  readonly value: string | number | boolean
}

/** Writes conditions in the grammar; `Filter.parse` reads them back. */
export const print = (conditions: ReadonlyArray<Printable>): string =>
  conditions.map(({ field, operator, value }) => `${field}:${operator}:${quote(String(value))}`).join(",")
