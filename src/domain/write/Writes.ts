import { Schema } from "effect"

/**
 * The shapes a client may send, derived from the record it reads, so that a field is written down once.
 *
 * - Required members stay required on creation; optional ones may be absent or `null`, which means the same.
 * - In a partial record every member may be absent (unchanged), and `null` clears an optional one, to any depth.
 * - Members with a default are always present in an answer and need not be sent to create one.
 * - Lists are always present in an answer but never required: absent is unchanged or empty, `null` is empty.
 * - Read-only members are accepted and ignored, so that a client may send back what it read.
 */
export type Clearable<S extends Schema.Top> = Schema.optionalKey<Schema.NullOr<Partial<S>>>

/** A nested record becomes partial, anything else stays what it is. */
export type Partial<S extends Schema.Top> =
  S extends Schema.Struct<infer Fields>
    ? Schema.Struct<{ readonly [K in keyof Fields]: Clearable<Inner<Fields[K]>> }>
    : S

type Inner<S> = S extends Schema.optionalKey<infer Value extends Schema.Top> ? Value : S extends Schema.Top ? S : never

/** Absent in a record when unset, or a list. */
type IsOptional<S> = S extends Schema.optionalKey<Schema.Constraint> | { readonly Type: ReadonlyArray<unknown> }
  ? true
  : false

export type CreateFields<F extends Schema.Struct.Fields, ReadOnly extends keyof F, Defaulted extends keyof F> = {
  readonly [K in keyof F]: K extends ReadOnly | Defaulted
    ? Schema.optionalKey<Inner<F[K]>>
    : IsOptional<F[K]> extends true
      ? Clearable<Inner<F[K]>>
      : F[K]
}

export type PatchFields<F extends Schema.Struct.Fields, ReadOnly extends keyof F> = {
  readonly [K in keyof F]: K extends ReadOnly
    ? Schema.optionalKey<Inner<F[K]>>
    : IsOptional<F[K]> extends true
      ? Clearable<Inner<F[K]>>
      : Schema.optionalKey<F[K]>
}

/** Works on schemas whose exact type is only known to the callers' types; the mapped types above are the contract. */
type Field = Schema.Top & { readonly schema?: Field; readonly fields?: Readonly<Record<string, Field>> }

const isOptional = (field: Field) => field.ast.context?.isOptional === true
const isList = (field: Field) => field.ast._tag === "Arrays"
const inner = (field: Field): Field => (isOptional(field) && field.schema !== undefined ? field.schema : field)

const mapFields = (fields: Readonly<Record<string, Field>>, f: (field: Field, name: string) => Schema.Top) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, f(field, name)]))

/** One partial shape per record, however often it is used: an address is the same thing in three places. */
const partials = new WeakMap<Field, Schema.Top>()

const partial = (field: Field): Schema.Top => {
  if (field.fields === undefined) return field
  const made = partials.get(field) ?? makePartial(field, field.fields)
  partials.set(field, made)
  return made
}

const makePartial = (field: Field, fields: Readonly<Record<string, Field>>): Schema.Top => {
  const identifier = Schema.resolveAnnotations(field)?.identifier
  const struct = Schema.Struct(mapFields(fields, (member) => clearable(inner(member))))
  return identifier === undefined ? struct : struct.annotate({ identifier: `Partial${identifier}` })
}

const clearable = (field: Field): Schema.Top => Schema.optionalKey(Schema.NullOr(partial(field)))

const derive = (
  record: Schema.Struct<Schema.Struct.Fields>,
  readOnly: ReadonlyArray<PropertyKey>,
  required: (field: Field, name: string) => Schema.Top
) =>
  Schema.Struct(
    mapFields(record.fields as Readonly<Record<string, Field>>, (field, name) => {
      if (readOnly.includes(name)) return Schema.optionalKey(Schema.annotateEncoded({ readOnly: true })(inner(field)))
      return isOptional(field) || isList(field) ? clearable(inner(field)) : required(field, name)
    })
  )

/** What a client sends to create the record; `defaulted` names the members with a default. */
export const create = <
  F extends Schema.Struct.Fields,
  const ReadOnly extends keyof F,
  const Defaulted extends keyof F = never
>(
  record: Schema.Struct<F>,
  readOnly: ReadonlyArray<ReadOnly>,
  defaulted: ReadonlyArray<Defaulted> = []
): Schema.Struct<CreateFields<F, ReadOnly, Defaulted>> =>
  derive(record, readOnly, (field, name) =>
    (defaulted as ReadonlyArray<PropertyKey>).includes(name) ? Schema.optionalKey(field) : field
  ) as never

/** What a client sends to change the record: merged member by member, lists replaced whole. */
export const patch = <F extends Schema.Struct.Fields, const ReadOnly extends keyof F>(
  record: Schema.Struct<F>,
  readOnly: ReadonlyArray<ReadOnly>
): Schema.Struct<PatchFields<F, ReadOnly>> => derive(record, readOnly, Schema.optionalKey) as never
