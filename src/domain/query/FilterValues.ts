import { Result } from "effect"

/** What is wrong with a part of a filter, and at which character of it. */
export interface Problem {
  readonly message: string
  readonly position: number
}

interface Value {
  readonly value: string
  /** The position after the value. */
  readonly end: number
}

const isSpace = (character: string | undefined) => character === " " || character === "\t"

/** The position of the next character that is no space. */
export const skipSpaces = (filter: string, from: number): number => {
  let position = from
  while (isSpace(filter[position])) position++
  return position
}

/** The text between two double quotes, the first of which is at `from`. */
const readQuoted = (filter: string, from: number): Result.Result<Value, Problem> => {
  let value = ""
  for (let position = from + 1; position < filter.length; position++) {
    const character = filter[position]!
    if (character === '"') return Result.succeed({ value, end: position + 1 })
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

/** Where an unquoted value stands: what ends it, and what a backslash escapes in it. */
interface Place {
  readonly ends: string
  readonly escapes: string
  readonly escapesShown: string
}

const alone: Place = { ends: ",", escapes: ',\\"', escapesShown: "a comma, a backslash or a double quote" }
const inList: Place = {
  ends: "|),",
  escapes: '|),"\\',
  escapesShown: "a vertical bar, a closing parenthesis, a comma, a double quote or a backslash"
}

const readUnquoted = (filter: string, from: number, place: Place): Result.Result<Value, Problem> => {
  let value = ""
  // Spaces around the value are ignored, but not the ones an escape protects: trimming stops there.
  let kept = 0
  let position = from
  for (; position < filter.length && !place.ends.includes(filter[position]!); position++) {
    const character = filter[position]!
    if (character === '"') {
      return Result.fail({ message: 'Write a double quote in a value as \\", or quote the whole value', position })
    }
    if (character === "\\") {
      position++
      const escaped = filter[position]
      if (escaped === undefined || !place.escapes.includes(escaped)) {
        return Result.fail({
          message: `A backslash escapes ${place.escapesShown}; write \\\\ for one`,
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

/** A value up to the comma before the next condition, or the end. */
export const readValue = (filter: string, from: number): Result.Result<Value, Problem> => {
  if (filter[from] !== '"') return readUnquoted(filter, from, alone)
  return Result.flatMap(readQuoted(filter, from), (read) =>
    read.end === filter.length || filter[read.end] === ","
      ? Result.succeed(read)
      : Result.fail({ message: "Only a comma may follow the closing quote", position: read.end })
  )
}

/** One of the values of a list, and where it begins in the filter. */
export interface Listed {
  readonly value: string
  readonly start: number
}

interface List {
  readonly values: ReadonlyArray<Listed>
  readonly end: number
}

/** The values in parentheses, separated by vertical bars: `(a|"b, c")`. */
export const readList = (filter: string, from: number): Result.Result<List, Problem> => {
  if (filter[from] !== "(") {
    return Result.fail({ message: "Write the values in parentheses: field:in:(a|b)", position: from })
  }
  const values: Array<Listed> = []
  let position = from
  do {
    const start = skipSpaces(filter, position + 1)
    const read = filter[start] === '"' ? readQuoted(filter, start) : readUnquoted(filter, start, inList)
    if (Result.isFailure(read)) return Result.fail(read.failure)
    values.push({ value: read.success.value, start })
    position = skipSpaces(filter, read.success.end)
  } while (filter[position] === "|")
  if (filter[position] !== ")") {
    const message = "A vertical bar or a closing parenthesis follows a value of a list; escape a comma in a value"
    return Result.fail({ message, position })
  }
  const end = skipSpaces(filter, position + 1)
  return end === filter.length || filter[end] === ","
    ? Result.succeed({ values, end })
    : Result.fail({ message: "Only a comma may follow the closing parenthesis of the values", position: end })
}
