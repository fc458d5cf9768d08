import { Predicate } from "effect"
import type { Json } from "../schema/Json.ts"
import {
  type Fields,
  fieldsOf,
  inner,
  isOptional,
  type ReferenceKind,
  markerOf,
  type Node,
  type Reference,
  type Shaped
} from "./Markers.ts"

/**
 * Everything that is derived from `references(…)`, in one walk over the fields and a value of them: which records must
 * exist, what is left of a value when some are gone, and the names that a file has in the place of uuids.
 */

/** What an answer may show of a record, or `undefined` when it does not exist. */
export type Lookup = (kind: ReferenceKind, id: string) => Json | undefined

export interface Visitor {
  /**
   * What stands in the place of a reference, and the facts for its read-only siblings; `undefined` when its
   * record is gone. The kind is undefined where the sibling that selects it has a value without references.
   * The names are those of the members on the way to it, which change as the walk goes on.
   */
  readonly reference: (
    kind: ReferenceKind | undefined,
    id: string,
    holder: Json,
    names: ReadonlyArray<string>
  ) => { readonly id: string; readonly facts?: Json | undefined } | undefined
  /** Changes a nested record before the walk enters it, and after the walk has left it. */
  readonly enter?: (fields: Fields, value: unknown) => unknown
  readonly leave?: (fields: Fields, value: Json) => unknown
}

const kindOf = (reference: Reference, holder: Json): ReferenceKind | undefined => {
  if (typeof reference === "string") return reference
  const selected = String(holder[reference.by])
  return Object.hasOwn(reference.kinds, selected) ? reference.kinds[selected] : undefined
}

/**
 * The value with every reference replaced. One that is gone takes its optional member, or its element of a list, with it;
 * a required member takes the record that holds it. What does not have the shape of the fields is left to the schema.
 */
export const transform = (whole: Shaped, value: unknown, { enter, leave, reference }: Visitor): unknown => {
  const names: Array<string> = []
  const list = (values: ReadonlyArray<unknown>, f: (value: unknown) => unknown) =>
    values.map(f).filter(Predicate.isNotUndefined)

  const nested = (schema: Node, value: unknown): unknown => {
    if (schema.value !== undefined && Array.isArray(value)) return list(value, (one) => nested(schema.value!, one))
    if (schema.fields === undefined) return value
    const entered = enter === undefined ? value : enter(schema.fields, value)
    if (!Predicate.isObject(entered)) return entered
    const made = record(schema.fields, entered)
    return made === undefined || leave === undefined ? made : leave(schema.fields, made)
  }

  const record = (fields: Fields, value: Json): Json | undefined => {
    const made: Record<string, unknown> = {}
    const shown: Record<string, unknown> = {}
    const named = (kind: ReferenceKind | undefined, id: unknown) => {
      if (typeof id !== "string") return id
      const found = reference(kind, id, value, names)
      Object.assign(shown, found?.facts)
      return found?.id
    }
    for (const [name, member] of Object.entries(value)) {
      const field = fields[name]
      names.push(name)
      made[name] = field === undefined ? member : memberOf(field, member, value, named)
      names.pop()
      if (made[name] !== undefined || member === undefined || field === undefined) continue
      delete made[name]
      if (!isOptional(field) || isSupplier(fields, name)) return undefined
    }
    for (const [name, field] of Object.entries(fields)) {
      const { readOnly, suppliedBy } = markerOf(field)
      if (Object.hasOwn(shown, name) && (readOnly === true || suppliedBy !== undefined)) made[name] = shown[name]
    }
    return made
  }

  const memberOf = (
    field: Node,
    member: unknown,
    holder: Json,
    named: (kind: ReferenceKind | undefined, id: unknown) => unknown
  ) => {
    const { references } = markerOf(field)
    if (references === undefined) return nested(inner(field), member)
    const kind = kindOf(references, holder)
    return Array.isArray(member) ? list(member, (id) => named(kind, id)) : named(kind, member)
  }

  return Predicate.isObject(value) ? record(fieldsOf(whole), value) : value
}

/** Whether another member comes from the record that this one names. */
const isSupplier = (fields: Fields, name: string) =>
  Object.values(fields).some((field) => markerOf(field).suppliedBy === name)

/** What settings name, by kind. */
export type References = ReadonlyMap<ReferenceKind, ReadonlySet<string>>

export const referencesIn = (whole: Shaped, value: unknown): References => {
  const found = new Map<ReferenceKind, Set<string>>()
  transform(whole, value, {
    reference: (kind, id) => {
      if (kind !== undefined) found.set(kind, (found.get(kind) ?? new Set()).add(id))
      return { id }
    }
  })
  return found
}

/** Unknown ones of these kinds are reported by another error or by a rule of the module, and stay in its answer. */
const isReported = (kind: ReferenceKind) => kind === "locales" || kind === "categories" || kind === "products"

/** The value as it is answered: without what names a record that is gone, and with the names of the others. */
export const resolve = <A extends Json>(whole: Shaped, value: A, lookup: Lookup): A =>
  transform(whole, value, {
    reference: (kind, id) => {
      if (kind === undefined) return undefined
      const facts = lookup(kind, id)
      return facts === undefined && !isReported(kind) ? undefined : { id, facts }
    }
  }) as A

/** Every kind that a value of the fields can name. */
export const kindsOf = (whole: Shaped): ReadonlySet<ReferenceKind> => {
  const kinds = (field: Node): ReadonlyArray<ReferenceKind> => {
    const { references } = markerOf(field)
    if (references !== undefined) return typeof references === "string" ? [references] : Object.values(references.kinds)
    const schema = inner(field)
    return [
      ...(schema.value === undefined ? [] : kinds(schema.value)),
      ...Object.values(schema.fields ?? {}).flatMap(kinds)
    ]
  }
  return new Set(Object.values(fieldsOf(whole)).flatMap(kinds))
}
