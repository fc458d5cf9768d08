import { Effect, Predicate } from "effect"
import type { Json } from "../../domain/schema/Json.ts"
import * as Markers from "../../domain/write/Markers.ts"
import { transform } from "../../domain/write/References.ts"
import { isRequired } from "../../domain/write/Shape.ts"
import type { Failure } from "../Failures.ts"
import { isNamedKind, type NamedKind } from "./Names.ts"

/**
 * The only required member of a nested record, if that is a reference. In a file, such a record may be written as the name
 * alone.
 */
const briefOf = (fields: Markers.Fields): string | undefined => {
  const [only, ...others] = Object.keys(fields).filter((name) => isRequired(fields[name]!))
  if (only === undefined || others.length > 0) return undefined
  return isNamedKind(Markers.markerOf(fields[only]!).references) ? only : undefined
}

/** The settings with every reference replaced, and names alone expanded to nested records. */
export const rename = (
  module: Markers.Shaped,
  settings: unknown,
  f: (kind: NamedKind, reference: string, holder: Json) => string
): unknown =>
  transform(module, settings, {
    enter: (fields, value) => {
      const member = Predicate.isString(value) ? briefOf(fields) : undefined
      return member === undefined ? value : { [member]: value }
    },
    reference: (kind, id, holder) => ({ id: isNamedKind(kind) ? f(kind, id.normalize("NFC").trim(), holder) : id })
  })

/** `rename` with replacements that the service looks up. */
export const renameEffect = Effect.fnUntraced(function* (
  module: Markers.Shaped,
  settings: unknown,
  f: (kind: NamedKind, reference: string, holder: Json) => Effect.Effect<string, Failure>
) {
  const lookups = new Map<string, Effect.Effect<string, Failure>>()
  const key = (kind: NamedKind, reference: string) => `${kind} ${reference}`
  rename(module, settings, (kind, reference, holder) => {
    lookups.set(key(kind, reference), f(kind, reference, holder))
    return reference
  })
  const found = new Map(
    yield* Effect.forEach(lookups, ([reference, lookup]) => Effect.map(lookup, (name) => [reference, name] as const), {
      concurrency: 8
    })
  )
  return rename(module, settings, (kind, reference) => found.get(key(kind, reference))!)
})

/** The settings with nested records that hold only a reference written as the name alone. */
export const abbreviate = (module: Markers.Shaped, settings: unknown): unknown =>
  transform(module, settings, {
    reference: (_, id) => ({ id }),
    leave: (fields, value) => {
      const member = briefOf(fields)
      return member !== undefined && Object.keys(value).length === 1 ? value[member] : value
    }
  })
