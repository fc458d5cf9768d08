import { isCountryCode } from "../../../src/domain/schema/Country.ts"

// The same bounds as Waypost's schemas, as far as JSON Schema can express them. It cannot trim, normalise to NFC, count
// decimals or drop repeated postal codes, so Fastify does less work.
type JsonSchema = Readonly<Record<string, unknown>>

const singleLine = "^\\P{Cc}*$"
const text = (maxLength: number, pattern = singleLine, minLength = 1): JsonSchema => ({
  type: "string",
  minLength,
  maxLength,
  pattern
})

const letters = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
const countryCodes = letters.flatMap((first) => letters.map((second) => first + second)).filter(isCountryCode)

const address = {
  addressLine1: text(255),
  addressLine2: text(255),
  attentionOf: text(255),
  city: text(120),
  zone: text(120),
  countryCode: { type: "string", enum: countryCodes },
  zipcode: text(16)
}
const email = text(254, "^[^\\s@]+@[^\\s@.]+(?:\\.[^\\s@.]+)+$")
const phone = text(32, "^[+0-9().\\-\\/ ]{3,32}$")
const freeText = text(1000, "^(?:\\P{Cc}|[\\n\\t])*$")

const object = (properties: Readonly<Record<string, JsonSchema>>, required: ReadonlyArray<string> = []) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false
})

const uuid = { type: "string", pattern: "^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$" }
const timestamp = { type: "string", format: "date-time" }

const nested = {
  address: object(address),
  legal: object({ address: object(address) }),
  invoice: object({ name: text(255), email, address: object(address) }),
  contact: object({
    email,
    website: text(2048, "^[hH][tT][tT][pP][sS]?:\\/\\/[^\\s\\/]"),
    phone,
    mobile: phone,
    firstName: text(100)
  }),
  coordinates: object({
    latitude: { type: "number", minimum: -90, maximum: 90 },
    longitude: { type: "number", minimum: -180, maximum: 180 }
  }),
  other: object(
    Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`extraDna${index + 1}`, freeText] as const))
  )
}

const required = { name: text(255), identifier: text(100) }
const postalCodes = { type: "array", maxItems: 1000, items: text(16, "^[A-Za-z0-9 -]*$", 2) }
const optional = { ...nested, locale: text(35) }
const readOnly = { uuid, createdAt: timestamp, editedAt: timestamp }

/** Every optional member may be null, to any depth; an enum has to list it too. */
const clearable = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  nullable: true,
  ...("enum" in schema ? { enum: [...(schema["enum"] as ReadonlyArray<string>), null] } : {}),
  ...("properties" in schema ? { properties: clearableAll(schema["properties"] as Record<string, JsonSchema>) } : {})
})
const clearableAll = (properties: Readonly<Record<string, JsonSchema>>) =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, clearable(schema)]))

const writable = { ...readOnly, ...required, postalCodes: clearable(postalCodes), ...clearableAll(optional) }

export const createBody = object(writable, ["name", "identifier"])
export const createBodies = { type: "array", items: createBody, minItems: 1, maxItems: 1000 }
export const patchBody = object(writable)

export const params = object({ uuid }, ["uuid"])

export const listQuery = object({
  limit: { type: "integer", minimum: 1, maximum: 500, default: 25 },
  page: { type: "integer", minimum: 1, maximum: 100_000_000, default: 1 },
  sortBy: { enum: ["createdAt", "editedAt", "name", "identifier"], default: "createdAt" },
  sortOrder: { enum: ["asc", "desc"], default: "desc" },
  filter: { type: "string", maxLength: 2000 }
})

// The schemas for fast-json-stringify: types and members, without bounds, which would only slow the responses down.
const responseOf = (schema: JsonSchema): JsonSchema => {
  if ("properties" in schema) {
    const properties = Object.entries(schema["properties"] as Record<string, JsonSchema>)
    return {
      type: "object",
      properties: Object.fromEntries(properties.map(([name, inner]) => [name, responseOf(inner)]))
    }
  }
  return "items" in schema
    ? { type: "array", items: { type: "string" } }
    : { type: schema["type"], ...("format" in schema ? { format: schema["format"] } : {}) }
}

const label = {
  type: "object",
  properties: { key: { type: "string" }, locale: { type: "string" }, label: { type: "string" } }
}
const ownOperations = {
  media: { type: "object", properties: { items: { type: "array", items: { type: "object", properties: {} } } } },
  translationLabels: { type: "array", items: label }
}
const fields = responseOf(object({ ...readOnly, ...required, postalCodes, ...optional }))
const location = { ...fields, properties: { ...(fields["properties"] as object), ...ownOperations } }
const tag = { type: "string" }
const integer = { type: "integer" }
const pagination = object({ limit: integer, page: integer, total: integer, pageCount: integer })

export const one = { type: "object", properties: { _tag: tag, data: location } }
export const page = { type: "object", properties: { _tag: tag, data: { type: "array", items: location }, pagination } }
const reference = { type: "object", properties: { uuid } }
export const written = { type: "object", properties: { _tag: tag, data: reference } }
export const writtenAll = { type: "object", properties: { _tag: tag, data: { type: "array", items: reference } } }
