import { Record, Schema } from "effect"
import {
  type Fields,
  fieldsOf,
  ignored,
  inner,
  isList,
  isOptional,
  markerOf,
  type Marker,
  type Node,
  type Shaped,
  withReference
} from "./Markers.ts"

/**
 * The shapes a client may send, derived from the record it reads, so that a field is written down once.
 *
 * - Required members stay required on creation; optional ones may be absent or `null`, which means the same.
 * - In a partial record every member may be absent (unchanged), and `null` clears an optional one, to any depth.
 * - Members with a default are always present in an answer and need not be sent to create one.
 * - Lists are always present in an answer but never required, unless marked: absent is unchanged or empty, `null` is empty.
 * - Read-only members are accepted and ignored, whatever their value, so that a client may send back what it read; one
 *   with another form in writes must have that form.
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
    ? ReturnType<typeof ignored>
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

const clearable = (schema: Schema.Top) => Schema.optionalKey(Schema.NullOr(schema))

/** The member of a shape with what the document says about the member that it is made of. */
const documented = (sent: Schema.Top, { references }: Marker): Schema.Top =>
  references === undefined ? sent : withReference(sent, references)

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
  const struct = Schema.Struct(
    Record.map(fields, (member) => documented(clearable(partial(inner(member))), markerOf(member)))
  )
  return identifier === undefined ? struct : struct.annotate({ identifier: `Partial${identifier}` })
}

/** How the fields of a shape are made. */
interface Derivation {
  /** The value of a member that may be absent or null. */
  readonly value: (schema: Node) => Schema.Top
  /** A member that is not optional. */
  readonly required: (field: Node, marker: Marker) => Schema.Top
}

const derive = (record: Shaped, { required, value }: Derivation) =>
  Record.map(fieldsOf(record), (field) => {
    const marker = markerOf(field)
    if (marker.writtenAs !== undefined) return marker.writtenAs
    if (marker.readOnly === true) return ignored(inner(field))
    return documented(mayBeNull(field, marker) ? clearable(value(inner(field))) : required(field, marker), marker)
  })

/** Whether a write may leave the member out, or clear it with null. */
const mayBeNull = (field: Node, { required, suppliedBy }: Marker) =>
  isOptional(field) || suppliedBy !== undefined || (isList(field) && required !== true)

/** Whether what creates or replaces the whole must have the member. */
export const isRequired = (field: Node): boolean => {
  const marker = markerOf(field)
  return marker.readOnly !== true && marker.defaulted !== true && !mayBeNull(field, marker)
}

/** What a client sends to create the record. */
export const create = <F extends Schema.Struct.Fields>(record: Schema.Struct<F>): Schema.Struct<CreateFields<F>> =>
  Schema.Struct(
    derive(record, {
      value: partial,
      required: (field, { defaulted }) => (defaulted === true ? Schema.optionalKey(field) : field)
    })
  ) as never

/** What a client sends to change the record: merged member by member, lists replaced whole. */
export const patch = <F extends Schema.Struct.Fields>(record: Schema.Struct<F>): Schema.Struct<PatchFields<F>> =>
  Schema.Struct(derive(record, { value: partial, required: Schema.optionalKey })) as never

/** A shape with a name of its own is the same in every direction. */
export const isNamed = (schema: Node) => Schema.resolveAnnotations(schema)?.identifier !== undefined

/** With the checks of another schema. */
const checkedAs = ({ ast }: Node, schema: Schema.Top): Schema.Top =>
  ast.checks === undefined ? schema : schema.check(...(ast.checks as unknown as [never]))

const replaced = (schema: Node): Schema.Top => {
  if (schema.value !== undefined) return checkedAs(schema, Schema.Array(replaced(schema.value)))
  if (schema.fields === undefined || isNamed(schema)) return schema
  return checkedAs(schema, Schema.Struct(replacement({ fields: schema.fields })))
}

/** The fields that a client sends to replace a whole: like those that create it, to any depth. */
export const replacement = (whole: Shaped): Readonly<Record<string, Schema.Top>> =>
  derive(whole, {
    value: replaced,
    required: (field, { defaulted }) => (defaulted === true ? Schema.optionalKey(replaced(field)) : replaced(field))
  })

/** The members that writes of the record ignore. */
export const readOnlyMembers = (record: Shaped): ReadonlyArray<string> =>
  Object.entries(fieldsOf(record)).flatMap(([name, field]) => (markerOf(field).readOnly === true ? [name] : []))
