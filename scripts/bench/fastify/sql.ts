import { ServiceError } from "./errors.ts"

const textColumns: Readonly<Record<string, string>> = {
  name: "name",
  identifier: "identifier",
  "address.city": "address->>'city'"
}

const patterns: Readonly<Record<string, (value: string) => string>> = {
  contains: (value) => `%${value}%`,
  startswith: (value) => `${value}%`,
  endswith: (value) => `%${value}`
}

/** The condition of a filter `field:operator:value, …` over three text fields, as a typical hand-written service has it. */
export const conditionsOf = (filter: string) => {
  const values: Array<string> = []
  const conditions = filter.split(",").map((condition) => {
    const [field = "", operator = "", ...rest] = condition.trim().split(":")
    const column = textColumns[field]
    const pattern = patterns[operator.toLowerCase()]
    if (column === undefined || pattern === undefined) {
      throw new ServiceError(400, "InvalidFilterError", `"${condition}" is not a valid condition`)
    }
    values.push(pattern(rest.join(":").replaceAll(/[\\%_]/g, "\\$&")))
    return `waypost_fold(${column}) like waypost_fold($${values.length})`
  })
  return { where: conditions.join(" and "), values }
}

type Members = Readonly<Record<string, unknown>>

const scalars: Readonly<Record<string, string>> = { name: "name", identifier: "identifier", locale: "locale" }
const objects = ["address", "legal", "invoice", "contact", "coordinates", "other"]

const isObject = (value: unknown): value is Members => typeof value === "object" && value !== null

/**
 * The single statement of a patch: nested objects merge under the row's lock, and an unchanged row is not written.
 * postgres.js sends objects as `jsonb`, because it asks PostgreSQL for the parameters' types when it prepares.
 */
export const updateOf = (uuid: string, body: Members) => {
  const values: Array<unknown> = [uuid]
  const bind = (value: unknown) => `$${values.push(value)}`
  const changes: Array<readonly [column: string, sql: string]> = []

  for (const [member, column] of Object.entries(scalars)) {
    if (body[member] !== undefined) changes.push([column, bind(body[member])])
  }
  if (body["postalCodes"] !== undefined) changes.push(["postal_codes", bind(body["postalCodes"] ?? [])])
  for (const member of objects) {
    const value = body[member]
    if (value === null) changes.push([member, "null"])
    else if (isObject(value)) changes.push([member, mergeOf(member, value, bind)])
  }
  if (changes.length === 0) return undefined
  const text = `update locations set ${changes.map(([column, sql]) => `${column} = ${sql}`).join(", ")},
      edited_at = greatest(now(), edited_at + interval '1 millisecond')
    where uuid = $1 and (${changes.map(([column, sql]) => `${column} is distinct from ${sql}`).join(" or ")})`
  return { text, values }
}

/** Only an address is nested deeper than one level. */
const mergeOf = (column: string, { address, ...rest }: Members, bind: (value: unknown) => string) => {
  const inner = isObject(address)
    ? ` || jsonb_build_object('address', ${mergedWith(`${column}->'address'`, bind(address))})`
    : ""
  const patch = address === null ? { ...rest, address } : rest
  return mergedWith(column, bind(patch), inner)
}

const mergedWith = (current: string, patch: string, inner = "") =>
  `nullif(jsonb_strip_nulls(coalesce(${current}, '{}') || ${patch}::jsonb${inner}), '{}')`
