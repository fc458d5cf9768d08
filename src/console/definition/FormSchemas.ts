import { Predicate } from "effect"
import { objectOf } from "../../domain/schema/Json.ts"
import { referencesKey } from "../../domain/write/Markers.ts"
import { type Forms, type FormSchema, resourcesKey } from "./Definition.ts"
import { bodyOf, type Documented, documented, type Node, schemas } from "./OpenApiDocument.ts"

const prefix = "#/components/schemas/"

const isNull = (node: unknown) => Predicate.isObject(node) && node["type"] === "null"

/** Members that help no one who fills in a form. */
const isLeftOut = (name: string) => name.startsWith("x-")

/**
 * The alternatives that a form offers: `null` clears a member, which a form does with an empty field, and of an enumeration that
 * may get more words, those it has.
 */
const offered = (alternatives: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  const others = alternatives.filter((alternative) => !isNull(alternative))
  const hasWords = others.some((other) => Predicate.isObject(other) && Array.isArray(other["enum"]))
  const isAnyText = (other: unknown) =>
    Predicate.isObject(other) && other["type"] === "string" && other["enum"] === undefined
  return hasWords ? others.filter((other) => !isAnyText(other)) : others
}

/** Has the resources of a reference where a form looks for them: with the text, or with each text of a list. */
const withResources = (schema: FormSchema, resources: unknown): FormSchema => {
  if (resources === undefined) return schema
  const { items } = schema
  return Predicate.isObject(items)
    ? { ...schema, items: { ...items, [resourcesKey]: resources } }
    : { ...schema, [resourcesKey]: resources }
}

/** Collects the schemas that a schema refers to. */
const converter = () => {
  const definitions: Record<string, FormSchema> = {}

  const convert = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(convert)
    if (typeof value === "string") return value.replaceAll("`", "")
    if (!Predicate.isObject(value)) return value
    const reference = value["$ref"]
    if (typeof reference === "string" && reference.startsWith(prefix)) {
      const { $ref: _, ...rest } = value
      return { $ref: `#/$defs/${define(reference.slice(prefix.length))}`, ...convertMembers(rest) }
    }
    const alternatives = value["anyOf"]
    if (Array.isArray(alternatives)) {
      const { anyOf: _, ...rest } = value
      const others = offered(alternatives)
      const inner = others.length === 1 ? convert(others[0]) : { anyOf: others.map(convertAlternative) }
      return withResources({ ...objectOf(inner), ...convertMembers(rest) }, value[referencesKey])
    }
    return withResources(convertMembers(value), value[referencesKey])
  }

  /** One of several types, which the choice between them names. */
  const convertAlternative = (value: unknown): unknown => {
    const converted = convert(value)
    return Predicate.isObject(converted) && typeof converted["type"] === "string"
      ? { title: converted["type"], ...converted }
      : converted
  }

  /** What a schema is converted to, without a reference. */
  const resolve = (value: unknown): FormSchema => {
    const converted = convert(value)
    if (!Predicate.isObject(converted)) return {}
    const reference = converted["$ref"]
    return typeof reference === "string" ? (definitions[reference.replace("#/$defs/", "")] ?? {}) : converted
  }

  /** The elements of a list. Where one stands is its place in the list, from which the service makes a position that is not sent. */
  const convertElement = (items: unknown): unknown => {
    const element = resolve(items)
    const { properties } = element
    if (!Predicate.isObject(properties) || properties["position"] === undefined) return convert(items)
    const { position: _, ...others } = properties
    return { ...element, properties: others }
  }

  /** A list of words of an enumeration is a set of checkboxes. */
  const isChoice = ({ items }: Node): boolean => Array.isArray(resolve(items)["enum"])

  const convertMembers = (node: Node): FormSchema => {
    const members = Object.entries(node).filter(([name]) => !isLeftOut(name) && name !== "properties")
    const converted = Object.fromEntries(
      members.map(([name, member]) => [name, name === "items" ? convertElement(member) : convert(member)])
    )
    const properties = node["properties"]
    if (!Predicate.isObject(properties)) return isChoice(node) ? { ...converted, uniqueItems: true } : converted
    // Only the service writes some; others are `null` in an alternative that does not have them.
    const written = Object.entries(properties).filter(
      ([, member]) => !(Predicate.isObject(member) && (member["readOnly"] === true || isNull(member)))
    )
    return { ...converted, properties: Object.fromEntries(written.map(([name, member]) => [name, convert(member)])) }
  }

  const define = (name: string): string => {
    if (!(name in definitions)) {
      definitions[name] = {}
      const converted = convert(schemas[name])
      definitions[name] = objectOf(converted)
    }
    return name
  }

  return { convert, definitions, resolve }
}

/** Without the members that lists of their own replace: a form begins without them, and would remove those that there are. */
const withoutRelations = ({ path }: Documented, { properties, ...form }: FormSchema): FormSchema => {
  const isRelation = (name: string) =>
    documented.some((other) => other.method === "put" && other.path === `${path}/${name}`)
  const own = Object.entries(objectOf(properties)).filter(([name]) => !isRelation(name))
  return { ...form, properties: Object.fromEntries(own) }
}

/** What operations that write a record take, as schemas of forms. */
export const formsOf = (): Forms => {
  const { convert, definitions, resolve } = converter()
  const forms = documented
    .filter(({ method, name }) => method !== "get" && name !== "bulk")
    .flatMap((operation) => {
      const body = bodyOf(operation)
      const converted = operation.name === "update" ? withoutRelations(operation, resolve(body)) : convert(body)
      return Predicate.isObject(converted) ? [[`${operation.group}.${operation.name}`, converted] as const] : []
    })
  return { forms: Object.fromEntries(forms), definitions }
}
