import { Predicate } from "effect"
import type { Json } from "../../domain/schema/Json.ts"
import type { Forms, FormSchema } from "../definition/Definition.ts"

const isEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Nothing that a person has typed: an empty text, and an object without anything. A list without elements removes all that there were. */
const isEmpty = (value: unknown): boolean =>
  value === undefined || value === "" || (Predicate.isObject(value) && Object.values(value).every(isEmpty))

/** Empty, or a list or an object in which everything is. */
const isBlank = (value: unknown): boolean =>
  isEmpty(value) || ((Array.isArray(value) || Predicate.isObject(value)) && Object.values(value).every(isBlank))

const without = (isLeftOut: (value: unknown) => boolean, value: unknown): unknown => {
  if (Array.isArray(value)) return value.flatMap((member) => (isLeftOut(member) ? [] : [without(isLeftOut, member)]))
  if (!Predicate.isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (isLeftOut(member) ? [] : [[name, without(isLeftOut, member)]]))
  )
}

/** What a person has typed, without the empty members that a form leaves behind. */
export const filled = (value: unknown): unknown => without(isEmpty, value)

/** Whether the same was typed, whatever empty lists and members a form has added. */
export const isSame = (one: unknown, other: unknown): boolean => isEqual(without(isBlank, one), without(isBlank, other))

/** The path in a form of a path in what `filled` makes of its data: lists of the form have empty elements as well. */
export const pathInForm = (data: unknown, [first, ...rest]: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (first === undefined) return []
  const places = Array.isArray(data) ? [...data.keys()].filter((place) => !isEmpty(data[place])) : []
  const name = String(places[Number(first)] ?? first)
  const member: unknown = Array.isArray(data) ? data[Number(name)] : Predicate.isObject(data) ? data[name] : undefined
  return [name, ...pathInForm(member, rest)]
}

/** The merge patch that makes `after` of `before`: changed members, and `null` for those that are empty now. */
export const patchOf = (before: Json, after: Json): Json => {
  const patch: Record<string, unknown> = {}
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, next] = [before[name], after[name]]
    // Of a list that stays empty, the form may have an element in which nothing was typed, or the list itself after it was removed.
    if (isEqual(old, next) || (isBlank(old) && isBlank(next))) continue
    if (isEmpty(next)) {
      if (!isEmpty(old)) patch[name] = null
    } else if (Predicate.isObject(next)) {
      patch[name] = patchOf(Predicate.isObject(old) ? old : {}, next)
    } else {
      patch[name] = filled(next)
    }
  }
  return patch
}

/**
 * The changes of an asset, whose translations the service merges by locale: cleared texts are `null`, and so is the name of a removed
 * translation. The name of one that stays is required.
 */
export const assetPatchOf = (before: Json, after: Json): Json => {
  const patch = patchOf(before, after)
  if (patch["translations"] === undefined) return patch
  const listOf = (value: unknown) => (Array.isArray(value) ? value.filter(Predicate.isObject) : [])
  const [old, next] = [listOf(before["translations"]), listOf(filled(after["translations"]))]
  const of = (list: ReadonlyArray<Json>, locale: unknown) => list.find((one) => one["locale"] === locale)
  const kept = next.map((translation) => {
    const { locale, name = "" } = translation
    const begun = of(old, locale)
    return begun === undefined ? translation : { ...patchOf(begun, translation), locale, name }
  })
  const removed = old.filter(({ locale }) => of(next, locale) === undefined)
  return { ...patch, translations: [...kept, ...removed.map(({ locale }) => ({ locale, name: null }))] }
}

/** A schema, or the definition that it refers to. */
export const schemaOf = (schema: FormSchema, definitions: Forms["definitions"]): FormSchema => {
  const reference = schema["$ref"]
  const found = typeof reference === "string" ? definitions[reference.replace("#/$defs/", "")] : undefined
  return found === undefined ? schema : schemaOf(found, definitions)
}

const positionOf = (element: unknown) =>
  Predicate.isObject(element) && typeof element["position"] === "number" ? element["position"] : 0

/** The members of a record that a form has. Elements of a list are in the order of their positions, which the form does not have. */
export const inForm = (schema: FormSchema, definitions: Forms["definitions"], value: unknown): unknown => {
  const { items, properties } = schemaOf(schema, definitions)
  if (Array.isArray(value) && Predicate.isObject(items)) {
    const elements = value.toSorted((one, other) => positionOf(one) - positionOf(other))
    return elements.map((element) => inForm(items, definitions, element))
  }
  if (!Predicate.isObject(value) || !Predicate.isObject(properties)) return value
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, member]) =>
      value[name] === undefined || !Predicate.isObject(member) ? [] : [[name, inForm(member, definitions, value[name])]]
    )
  )
}
