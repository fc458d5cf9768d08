import { type DateTime, Schema } from "effect"
import { Timestamp } from "../schema/Fields.ts"
import { type ModuleName, pascal } from "./ModuleName.ts"
import { ProductId } from "../schema/ProductId.ts"

/**
 * A product module is declared once, as the fields of its answer; the shape a client sends is derived from them.
 *
 * The fields say about themselves, by a marker, what their type cannot: that they have a default, that the server fills
 * them in, that no client writes them, that the elements of a list differ by a member. `update` accepts what such a
 * field may be sent as, and `ModuleSettings.complete` makes of it what is stored: JSON, which is also what is answered.
 */
export interface Marker {
  readonly readOnly?: true
  readonly fallback?: unknown
  /** What the server puts where the client is silent. */
  readonly fill?: "uuid" | "now" | "index" | "languages"
  /** A list that cannot be left out. */
  readonly needed?: true
  readonly uniqueBy?: string
  readonly sortBy?: string
  /** The member beside it whose record tells this one: with that, it need not be sent and is not stored. */
  readonly toldBy?: string
}

const key = "waypost/field"

export type Node = Schema.Top & {
  readonly schema?: Node
  readonly value?: Node
  readonly fields?: Readonly<Record<string, Node>>
}

/** What a field says about itself. */
export const markerOf = (node: Node): Marker => Schema.resolveAnnotations(node)?.[key] ?? {}

/** Adds to what a field says about itself. */
export const mark = <S extends Schema.Top>(schema: S, marker: Marker): S =>
  schema.annotate({ [key]: { ...markerOf(schema), ...marker } }) as unknown as S

/** One thing that is wrong with the settings of a module, at a dotted path. */
export interface Problem {
  readonly path: string
  readonly code: string
  readonly message: string
}

/** The settings of a module as they are stored. */
export type Settings<F extends Schema.Struct.Fields> = Schema.Struct.Encoded<F>

/** What a client may send for a value: every member may be absent, and `null` says the same. */
export type Sent<T> = T extends string | number | boolean | null | undefined | DateTime.Utc
  ? T
  : T extends ReadonlyArray<infer E>
    ? ReadonlyArray<Sent<E>>
    : { readonly [K in keyof T]?: Sent<T[K]> | null }

/** What the settings of modules point at. */
export type Referenced = "users" | "locations" | "groups" | "files" | "assets" | "categories"

/** What may be told of a referenced record, or `undefined` when there is none. */
export type Lookup = (kind: Referenced, id: string) => Readonly<Record<string, unknown>> | undefined

export interface Module<Name extends ModuleName, F extends Schema.Struct.Fields> {
  readonly name: Name
  readonly fields: F
  readonly answer: Schema.Struct<ReturnType<typeof envelope<Name>> & F>
  readonly update: Schema.Codec<Sent<Schema.Struct.Type<F>>, unknown>
  /** What no single field can say: the problems of the settings as a whole. */
  readonly rules: (settings: Settings<F>, look: Lookup) => ReadonlyArray<Problem>
  /** The settings as they are told: what is gone taken out, what is known of the rest put in. */
  readonly resolve: (settings: Settings<F>, look: Lookup) => Settings<F>
}

const envelope = <const Name extends ModuleName>(name: Name) => ({
  productUuid: ProductId,
  module: Schema.Literal(name),
  active: Schema.Literal(true),
  inheritedFrom: Schema.optionalKey(ProductId.annotate({ description: "The parent whose module this is." })),
  editedAt: Timestamp
})

const isOptional = (node: Node) => node.ast.context?.isOptional === true
/** The schema of a member, whether or not it is optional. */
export const inner = (node: Node): Node => (isOptional(node) && node.schema !== undefined ? node.schema : node)
export const isList = (node: Node) => node.ast._tag === "Arrays"
/** A shape with a name of its own is the same in every direction. */
export const isNamed = (node: Node) => Schema.resolveAnnotations(node)?.identifier !== undefined

const clearable = (schema: Schema.Top) => Schema.optionalKey(Schema.NullOr(schema))

const sentValue = (node: Node): Schema.Top => {
  if (node.value !== undefined) return checkedAs(node, Schema.Array(sentValue(node.value)))
  if (node.fields === undefined || isNamed(node)) return node
  return checkedAs(node, Schema.Struct(sentFields(node.fields)))
}

/** With the checks of another schema. */
const checkedAs = ({ ast }: Node, schema: Schema.Top): Schema.Top =>
  ast.checks === undefined ? schema : schema.check(...(ast.checks as unknown as [never]))

const sentFields = (fields: Readonly<Record<string, Node>>): Record<string, Schema.Top> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, sentField(field)]))

const sentField = (field: Node): Schema.Top => {
  const node = inner(field)
  const { fallback, fill, needed, readOnly, toldBy } = markerOf(node)
  if (readOnly === true) return Schema.optionalKey(Schema.NullOr(node).annotate({ readOnly: true }))
  const value = sentValue(node)
  if (isOptional(field) || toldBy !== undefined || (isList(node) && needed !== true)) return clearable(value)
  return fallback !== undefined || fill !== undefined ? Schema.optionalKey(value) : value
}

/** Declares a module by the fields of its answer. */
export const make = <const Name extends ModuleName, const F extends Schema.Struct.Fields>(
  name: Name,
  fields: F,
  options: Partial<Pick<Module<Name, F>, "rules" | "resolve">> = {}
): Module<Name, F> => {
  const identifier = `${pascal(name)}Module`
  const envelopeFields = envelope(name)
  const ignored = Object.fromEntries(
    Object.entries({ ...envelopeFields, active: Schema.Boolean }).map(([member, field]) => [
      member,
      sentField(mark(inner(field as unknown as Node), { readOnly: true }))
    ])
  )
  return {
    name,
    fields,
    answer: Schema.Struct({ ...envelopeFields, ...fields }).annotate({ identifier }),
    update: Schema.Struct({ ...ignored, ...sentFields(fields as never) }).annotate({
      identifier: `${identifier}Update`
    }) as never,
    rules: options.rules ?? (() => []),
    resolve: options.resolve ?? ((settings) => settings)
  }
}
