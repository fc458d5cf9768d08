import { Predicate, Record } from "effect"
import { objectOf } from "../../domain/schema/Json.ts"

/** A JSON schema, or a reference to one. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The named schemas of the document. */
export type Components = Readonly<Record<string, JsonSchema>>

const prefix = "#/components/schemas/"

export const refTo = (name: string) => ({ $ref: `${prefix}${name}` })

/** The name of the component that a reference names. */
export const nameOf = (ref: unknown) => String(ref).slice(String(ref).lastIndexOf("/") + 1)

/** Merges the `allOf` in which checks are derived into one schema. */
export const flatten = ({ allOf, ...rest }: JsonSchema): JsonSchema =>
  Array.isArray(allOf) ? Object.assign({}, rest, ...allOf) : rest

/** The schemas of the members of an object. */
export const propertiesOf = ({ properties }: JsonSchema): Readonly<Record<string, JsonSchema>> =>
  Predicate.isObject(properties) ? Record.filter(properties, Predicate.isObject) : {}

/** The keywords whose value is a schema, a list of schemas, or schemas by name. */
const single = ["items", "additionalProperties"]
const several = ["anyOf", "oneOf", "allOf"]
const named = ["properties"]

/** The schemas directly within a schema. */
export const partsOf = (schema: JsonSchema): ReadonlyArray<JsonSchema> =>
  [
    ...single.map((keyword) => schema[keyword]),
    ...several.flatMap((keyword) => (Array.isArray(schema[keyword]) ? schema[keyword] : [])),
    ...named.flatMap((keyword) => Object.values(objectOf(schema[keyword])))
  ].filter(Predicate.isObject)

/** The schema with the schemas directly within it replaced. */
export const mapParts = (schema: JsonSchema, f: (part: JsonSchema) => JsonSchema): JsonSchema => {
  const map = (value: unknown) => (Predicate.isObject(value) ? f(value) : value)
  const mapValue = (keyword: string, value: unknown) => {
    if (single.includes(keyword)) return map(value)
    if (several.includes(keyword) && Array.isArray(value)) return value.map(map)
    return named.includes(keyword) && Predicate.isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, map(part)]))
      : value
  }
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, mapValue(keyword, value)]))
}

/** Rewrites every schema within a schema, the innermost first, and the schema itself. */
export const rewrite =
  (f: (schema: JsonSchema) => JsonSchema) =>
  (schema: JsonSchema): JsonSchema =>
    f(mapParts(schema, rewrite(f)))

/** The names of the components that schemas reference, directly or through other components. */
export const referenced = (
  roots: ReadonlyArray<JsonSchema>,
  components: Components,
  follows: (schema: JsonSchema) => boolean = () => true
): ReadonlySet<string> => {
  const names = new Set<string>()
  const visit = (schema: JsonSchema): void => {
    if (!follows(schema)) return
    const { $ref } = schema
    if ($ref !== undefined && !names.has(nameOf($ref))) {
      names.add(nameOf($ref))
      visit(components[nameOf($ref)] ?? {})
    }
    partsOf(schema).forEach(visit)
  }
  roots.forEach(visit)
  return names
}
