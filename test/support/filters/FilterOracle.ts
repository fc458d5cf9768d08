/**
 * A reference implementation of filters: it works on the JSON that the API returns and follows only the contract. It
 * shares no code with the service.
 */
export type Json = null | string | number | boolean | ReadonlyArray<Json> | { readonly [member: string]: Json }
export type Answered = { readonly uuid: string; readonly [member: string]: Json }

export type Kind = "string" | "enum" | "uuid" | "number" | "date" | "day" | "boolean"

export interface Asked {
  readonly field: string
  readonly kind: Kind
  readonly operator: string
  /** As text, as in the filter. */
  readonly value: string
  /** The values of `in`. */
  readonly values?: ReadonlyArray<string>
  /** Whether `not` stands before the operator. */
  readonly not?: boolean
}

/** The values at a path: none if a member is missing, several if the path crosses a list. */
export const valuesAt = (record: Json, path: ReadonlyArray<string>): ReadonlyArray<string | number | boolean> => {
  if (Array.isArray(record)) return (record as ReadonlyArray<Json>).flatMap((element) => valuesAt(element, path))
  if (record === null) return []
  if (typeof record !== "object") return path.length === 0 ? [record] : []
  const [member, ...rest] = path
  const inner = member === undefined ? undefined : (record as Readonly<Record<string, Json>>)[member]
  return inner === undefined ? [] : valuesAt(inner, rest)
}

/** The dotted paths of all values of a record; a list has the path of its elements. */
const pathsIn = (record: Json): ReadonlyArray<string> => {
  if (Array.isArray(record)) return (record as ReadonlyArray<Json>).flatMap(pathsIn)
  if (record === null || typeof record !== "object") return [""]
  return Object.entries(record).flatMap(([member, inner]) =>
    pathsIn(inner).map((path) => (path === "" ? member : `${member}.${path}`))
  )
}

/** Members with a closed set of values. */
const enums = /(?:^|\.)(?:status|role|type|authorizationType|module|processing|season)$/

const kindOf = (path: string, values: ReadonlyArray<string | number | boolean>): Kind => {
  const all = (pattern: RegExp) => values.every((value) => pattern.test(String(value)))
  if (typeof values[0] !== "string") return typeof values[0] === "number" ? "number" : "boolean"
  if (enums.test(path)) return "enum"
  if (all(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)) return "uuid"
  if (all(/^\d{4}-\d\d-\d\d$/)) return "day"
  return all(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) ? "date" : "string"
}

/** Signed addresses, which no filter takes. */
const signed = /(?:^|\.)(?:urls\.\w+|thumbnailUrl)$/

/** The fields of records and their kinds, inferred from the values. */
export const fieldsOf = (records: ReadonlyArray<Answered>): ReadonlyArray<Pick<Asked, "field" | "kind">> =>
  [...new Set(records.flatMap(pathsIn).filter((path) => !signed.test(path)))].map((field) => ({
    field,
    kind: kindOf(
      field,
      records.flatMap((record) => valuesAt(record, field.split(".")))
    )
  }))

/** Folds case; a final sigma becomes a sigma. */
export const fold = (text: string) => text.toLowerCase().replaceAll("ς", "σ")

const textHolds = (operator: string, actual: string, value: string): boolean => {
  switch (operator) {
    case "equals":
      return actual === value
    case "contains":
      return fold(actual).includes(fold(value))
    case "startsWith":
      return fold(actual).startsWith(fold(value))
    default:
      return fold(actual).endsWith(fold(value))
  }
}

const compares = (operator: string, actual: number, from: number, next: number): boolean => {
  switch (operator) {
    case "equals":
      return actual >= from && actual < next
    case "gt":
      return actual >= next
    case "gte":
      return actual >= from
    case "lt":
      return actual < from
    default:
      return actual < next
  }
}

const holds = ({ kind, operator, value }: Asked, actual: string | number | boolean): boolean => {
  switch (kind) {
    case "boolean":
      return String(actual) === value
    case "number": {
      const [left, right] = [Number(actual), Number(value)]
      return { equals: left === right, gt: left > right, gte: left >= right, lt: left < right, lte: left <= right }[
        operator as "gt"
      ]
    }
    case "date":
    case "day": {
      if (["contains", "startsWith", "endsWith"].includes(operator)) return textHolds(operator, String(actual), value)
      // A date matches the whole day; a timestamp matches one millisecond.
      const from = Date.parse(value)
      return compares(operator, Date.parse(String(actual)), from, from + (value.length === 10 ? 86_400_000 : 1))
    }
    case "uuid":
      return textHolds(operator, String(actual), value.toLowerCase())
    default:
      return textHolds(operator, String(actual), value.normalize("NFC"))
  }
}

/** Whether a record has something at a path: a value, an element of a list, a member of an object. */
const presentAt = (record: Json | undefined, path: ReadonlyArray<string>): boolean => {
  if (record === null || record === undefined) return false
  if (Array.isArray(record)) return (record as ReadonlyArray<Json>).some((element) => presentAt(element, path))
  const [member, ...rest] = path
  if (typeof record !== "object") return member === undefined
  const members = record as Readonly<Record<string, Json>>
  return member === undefined ? Object.keys(members).length > 0 : presentAt(members[member], rest)
}

const conditionHolds = (record: Answered, condition: Asked): boolean => {
  const path = condition.field.split(".")
  if (condition.operator === "exists") return String(presentAt(record, path)) === condition.value
  const found = valuesAt(record, path)
  if (condition.operator !== "in") return found.some((actual) => holds(condition, actual))
  return (condition.values ?? [condition.value]).some((value) =>
    found.some((actual) => holds({ ...condition, operator: "equals", value }, actual))
  )
}

/** Whether all conditions hold; a record without the member does not match, except a negated condition. */
export const matches = (record: Answered, conditions: ReadonlyArray<Asked>): boolean =>
  conditions.every((condition) => conditionHolds(record, condition) !== (condition.not === true))

/** Writes a filter with random spelling: case, spaces, quotes and escapes. */
export const write = (conditions: ReadonlyArray<Asked>, random: () => number): string => {
  const anyCase = (text: string) =>
    Array.from(text, (letter) => (random() < 0.3 ? letter.toUpperCase() : letter)).join("")
  const space = () => (random() < 0.1 ? " ".repeat(1 + Math.floor(random() * 2)) : "")
  const written = (value: string, special: RegExp) =>
    value !== "" && value === value.replaceAll(/^[ \t]+|[ \t]+$/g, "") && random() < 0.5
      ? value.replaceAll(special, String.raw`\$&`) + space()
      : `"${value.replaceAll(/[\\"]/g, String.raw`\$&`)}"`
  const listed = (values: ReadonlyArray<string>) =>
    `(${values.map((value) => `${space()}${written(value, /[\\",|)]/g)}${space()}`).join("|")})${space()}`
  return conditions
    .map(({ field, not = false, operator, value, values = [value] }) => {
      const sent = operator === "in" ? listed(values) : written(value, /[\\",]/g)
      const negation = not ? `${anyCase("not")} ${space()}` : ""
      return `${space()}${anyCase(field)}${space()}:${space()}${negation}${anyCase(operator)}${space()}:${space()}${sent}`
    })
    .join(",")
}
