import { Effect, Predicate } from "effect"
import type { ModuleName } from "../../domain/catalog/ModuleName.ts"
import type { Failure } from "../Failures.ts"
import type { Kind } from "./Names.ts"
import type { Json } from "./Row.ts"

/**
 * Where the settings of modules name other records. In a file a name stands in the place of the uuid, and an element that
 * is nothing but a reference may be the name alone.
 */
interface Place {
  /** The objects that hold the reference: a dotted path, with `*` for every element of a list. */
  readonly at: string
  /** Their member that is a uuid, or a list of uuids. */
  readonly member: string
  readonly kind: Kind | ((holder: Json) => Kind | undefined)
  /** Whether the name may stand for the whole object. */
  readonly brief?: true
}

const listed = (kind: "locations" | "groups" | "users", at: string): Place => ({
  at,
  member: "uuid",
  kind,
  brief: true
})
const lists = [listed("locations", "locations.*"), listed("groups", "groups.*")]

const places: Partial<Record<ModuleName, ReadonlyArray<Place>>> = {
  distribution: [{ at: "allocations.*", member: "locationUuid", kind: "locations" }],
  locations: lists,
  permissions: lists,
  price: [{ at: "overrides.*", member: "uuid", kind: ({ scope }) => (scope === "group" ? "groups" : "locations") }],
  workflow: [
    {
      at: "steps.*.approvers",
      member: "uuids",
      kind: ({ type }) => (type === "users" || type === "groups" ? type : undefined)
    },
    { at: "steps.*", member: "escalateTo", kind: "users" }
  ],
  campaigns: [{ at: "campaigns.*", member: "responsibleUserUuid", kind: "users" }],
  "internal-comment": [listed("users", "editedBy"), listed("users", "thread.*.author")],
  variants: [{ at: "", member: "defaultVariantUuid", kind: "products" }]
}

/** Changes what stands at a path; what does not have the shape of the path is left to the schema. */
const change = (value: unknown, segments: ReadonlyArray<string>, f: (value: unknown) => unknown): unknown => {
  const [first, ...rest] = segments
  if (first === undefined) return f(value)
  if (first === "*") return Array.isArray(value) ? value.map((element) => change(element, rest, f)) : value
  return Predicate.isObject(value) && first in value ? { ...value, [first]: change(value[first], rest, f) } : value
}

const changeAt = (name: ModuleName, settings: unknown, f: (value: unknown, place: Place) => unknown) =>
  (places[name] ?? []).reduce(
    (changed, place) => change(changed, place.at === "" ? [] : place.at.split("."), (value) => f(value, place)),
    settings
  )

/** The settings with every reference replaced, and elements that were names alone made whole. */
export const rename = (
  name: ModuleName,
  settings: unknown,
  f: (kind: Kind, reference: string, holder: Json) => string
): unknown =>
  changeAt(name, settings, (value, { brief, kind, member }) => {
    const holder = brief && Predicate.isString(value) ? { [member]: value } : value
    if (!Predicate.isObject(holder)) return holder
    const { [member]: reference } = holder
    const meant = Predicate.isFunction(kind) ? kind(holder) : kind
    const renamed = (one: unknown) =>
      Predicate.isString(one) && meant !== undefined ? f(meant, one.trim(), holder) : one
    if (reference === undefined) return holder
    return { ...holder, [member]: Array.isArray(reference) ? reference.map(renamed) : renamed(reference) }
  })

/** `rename` with replacements that have to be asked for. */
export const renameEffect = Effect.fnUntraced(function* (
  name: ModuleName,
  settings: unknown,
  f: (kind: Kind, reference: string, holder: Json) => Effect.Effect<string, Failure>
) {
  const asked = new Map<string, Effect.Effect<string, Failure>>()
  const key = (kind: Kind, reference: string) => `${kind} ${reference}`
  rename(name, settings, (kind, reference, holder) => {
    asked.set(key(kind, reference), f(kind, reference, holder))
    return reference
  })
  const answers = new Map(
    yield* Effect.forEach(asked, ([reference, ask]) => Effect.map(ask, (answer) => [reference, answer] as const), {
      concurrency: 8
    })
  )
  return rename(name, settings, (kind, reference) => answers.get(key(kind, reference))!)
})

/** The settings with elements that are nothing but a reference written as the name alone. */
export const abbreviate = (name: ModuleName, settings: unknown): unknown =>
  changeAt(name, settings, (value, { brief, member }) =>
    brief && Predicate.isObject(value) && Object.keys(value).length === 1 ? value[member] : value
  )
