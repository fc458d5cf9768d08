import { Schema } from "effect"
import { type Fields, markerOf, type Marker, type Node, readOnly } from "./Markers.ts"

/**
 * The shapes a client may send, derived from the record it reads, so that a field is written down once.
 *
 * - Required members stay required on creation; optional ones may be absent or `null`, which means the same.
 * - In a partial record every member may be absent (unchanged), and `null` clears an optional one, to any depth.
 * - Members with a default are always present in an answer and need not be sent to create one.
 * - Lists are always present in an answer but never required, unless marked: absent is unchanged or empty, `null` is empty.
 * - Read-only members are accepted and ignored, so that a client may send back what it read.
 */
export type Clearable<S extends Schema.Top> = Schema.optionalKey<Schema.NullOr<Partial<S>>>

/** A nested record becomes partial, anything else stays what it is. */
export type Partial<S extends Schema.Top> =
  S extends Schema.Struct<infer F> ? Schema.Struct<{ readonly [K in keyof F]: Clearable<Inner<F[K]>> }> : S

type Inner<S> = S extends Schema.optionalKey<infer Value extends Schema.Top> ? Value : S extends Schema.Top ? S : never

type Mark<S> = S extends { readonly "~waypost/marker": infer M } ? M : "none"
/** The marker of a field, on the member or on what is optional about it. */
type MarkOf<S> = Mark<S> extends "none" ? Mark<Inner<S>> : Mark<S>

/** Absent in a record when unset, or a list. */
type IsOptional<S> = S extends Schema.optionalKey<Schema.Constraint> | { readonly Type: ReadonlyArray<unknown> }
  ? true
  : false

/** The field of a shape, when a member that is not optional becomes `Required`. */
type Sent<S, M, Required> = M extends { readonly sent: infer Written }
  ? Written
  : M extends "readOnly"
    ? Schema.optionalKey<Inner<S>>
    : M extends "required"
      ? Required
      : IsOptional<S> extends true
        ? Clearable<Inner<S>>
        : Required

type OptionalKey<S> = S extends Schema.Top ? Schema.optionalKey<S> : never

export type CreateFields<F extends Schema.Struct.Fields> = {
  readonly [K in keyof F]: Sent<F[K], MarkOf<F[K]>, MarkOf<F[K]> extends "defaulted" ? OptionalKey<F[K]> : F[K]>
}

export type PatchFields<F extends Schema.Struct.Fields> = {
  readonly [K in keyof F]: Sent<F[K], MarkOf<F[K]>, OptionalKey<F[K]>>
}

export const isOptional = (field: Node) => field.ast.context?.isOptional === true
export const isList = (field: Node) => field.ast._tag === "Arrays"
/** The schema of a member, whether or not it is optional. */
export const inner = (field: Node): Node => (isOptional(field) && field.schema !== undefined ? field.schema : field)

/** A record, or a module, by its fields. */
export interface Shaped {
  readonly fields: Schema.Struct.Fields
}

export const fieldsOf = ({ fields }: Shaped): Fields => fields as Fields

const mapFields = (fields: Fields, f: (field: Node) => Schema.Top) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, f(field)]))

const clearable = (schema: Schema.Top) => Schema.optionalKey(Schema.NullOr(schema))

/** One partial shape per record, however often it is used: an address is the same thing in three places. */
const partials = new WeakMap<Node, Schema.Top>()

const partial = (field: Node): Schema.Top => {
  if (field.fields === undefined) return field
  const made = partials.get(field) ?? makePartial(field, field.fields)
  partials.set(field, made)
  return made
}

const makePartial = (field: Node, fields: Fields): Schema.Top => {
  const identifier = Schema.resolveAnnotations(field)?.identifier
  const struct = Schema.Struct(mapFields(fields, (member) => clearable(partial(inner(member)))))
  return identifier === undefined ? struct : struct.annotate({ identifier: `Partial${identifier}` })
}

/** How the fields of a shape are made. */
interface Derivation {
  readonly readOnly: (schema: Node) => Schema.Top
  /** The value of a member that may be absent or null. */
  readonly value: (schema: Node) => Schema.Top
  /** A member that is not optional. */
  readonly required: (field: Node, marker: Marker) => Schema.Top
}

const derive = (record: Shaped, { readOnly, required, value }: Derivation) =>
  mapFields(fieldsOf(record), (field) => {
    const marker = markerOf(field)
    if (marker.writtenAs !== undefined) return marker.writtenAs
    if (marker.readOnly === true) return readOnly(inner(field))
    const mayBeAbsent = isOptional(field) || marker.suppliedBy !== undefined || (isList(field) && !marker.required)
    return mayBeAbsent ? clearable(value(inner(field))) : required(field, marker)
  })

const validatedAndIgnored = (schema: Node) =>
  Schema.optionalKey(readOnly(Schema.annotateEncoded({ readOnly: true })(schema)))

/** What a client sends to create the record. */
export const create = <F extends Schema.Struct.Fields>(record: Schema.Struct<F>): Schema.Struct<CreateFields<F>> =>
  Schema.Struct(
    derive(record, {
      readOnly: validatedAndIgnored,
      value: partial,
      required: (field, { defaulted }) => (defaulted === true ? Schema.optionalKey(field) : field)
    })
  ) as never

/** What a client sends to change the record: merged member by member, lists replaced whole. */
export const patch = <F extends Schema.Struct.Fields>(record: Schema.Struct<F>): Schema.Struct<PatchFields<F>> =>
  Schema.Struct(
    derive(record, { readOnly: validatedAndIgnored, value: partial, required: Schema.optionalKey })
  ) as never

/** The members that writes of the record ignore. */
export const readOnlyMembers = (record: Shaped): ReadonlyArray<string> =>
  Object.entries(fieldsOf(record)).flatMap(([name, field]) => (markerOf(field).readOnly === true ? [name] : []))
