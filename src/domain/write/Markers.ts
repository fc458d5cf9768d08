import { Schema } from "effect"
import { anyJsonLike } from "../schema/Fields.ts"

/**
 * What a field of a record or a module says about itself beyond its type. The shapes that a client sends, the columns
 * that a write changes, and the references that must exist are all derived from these markers.
 *
 * A marker is an annotation of the member, not of its type, so it survives `annotate` and `optionalKey`.
 */
export interface Marker {
  /** The server sets it; a write accepts and ignores it. */
  readonly readOnly?: true
  /** The field that a write has in its place. */
  readonly writtenAs?: Schema.Top
  /** It has a default, so a write may leave it out. */
  readonly defaulted?: true
  /** The default, where it is stored with the settings of a module. */
  readonly fallback?: unknown
  /** What the server generates for a module when the client leaves it out. */
  readonly generated?: "uuid" | "now" | "index" | "locales"
  /** A list that cannot be left out. */
  readonly required?: true
  /** The member in which the elements of a list must differ. */
  readonly uniqueBy?: string
  /** The member by which the elements of a list are sorted. */
  readonly sortBy?: string
  /** The sibling whose record supplies this member: with that sibling it is neither required nor stored. */
  readonly suppliedBy?: string
  readonly references?: Reference
}

/** What a field can name: records of the service, and the configured locales. */
export type ReferenceKind =
  | "locales"
  | "users"
  | "locations"
  | "groups"
  | "files"
  | "assets"
  | "categories"
  | "metaTags"
  | "products"

/** The kind that a field names; `by` is the sibling whose value selects it. */
export type Reference = ReferenceKind | { readonly by: string; readonly kinds: Readonly<Record<string, ReferenceKind>> }

/** A schema as the derivations walk it; its exact type is known to the callers' types only. */
export type Node = Schema.Top & {
  readonly schema?: Node
  readonly value?: Node
  readonly fields?: Fields
}
export type Fields = Readonly<Record<string, Node>>

/** A record or a module, by its fields. */
export interface Shaped {
  readonly fields: Schema.Struct.Fields
}

export const fieldsOf = ({ fields }: Shaped): Fields => fields as Fields
export const isOptional = (field: Node) => field.ast.context?.isOptional === true
export const isList = (field: Node) => field.ast._tag === "Arrays"
/** The schema of a member, whether or not it is optional. */
export const inner = (field: Node): Node => (isOptional(field) && field.schema !== undefined ? field.schema : field)

const key = "waypost/field"

export const markerOf = (field: Node): Marker => Schema.resolveAnnotationsKey(field)?.[key] ?? {}

/** Adds to the marker of a field. */
export const mark = <S extends Schema.Top>(schema: S, marker: Marker): S =>
  schema.annotateKey({ [key]: { ...markerOf(schema), ...marker } }) as unknown as S

/** The type of a field whose marker changes the type of derived shapes. */
export interface Marked<out M> {
  readonly "~waypost/marker": M
  readonly Rebuild: Marked<M>
}

const marked =
  <M>(marker: Marker) =>
  <S extends Schema.Top>(schema: S) =>
    mark(schema, marker) as S & Marked<M>

/** A member that the server sets; a write accepts and ignores it. */
export const readOnly = marked<"readOnly">({ readOnly: true })

/** A member that a write ignores, whatever is sent for it unless `sent` says otherwise. The document describes it as it is answered. */
export const ignored = (answered: Schema.Top, sent = anyJsonLike(answered)) =>
  Schema.optionalKey(readOnly(sent.annotateKey({ readOnly: true })))

/** A member that has another form in writes. */
export const writtenAs = <Sent extends Schema.Top>(sent: Sent) => marked<{ readonly sent: Sent }>({ writtenAs: sent })

/** A member with a default that the repository or the configuration provides. */
export const defaulted = marked<"defaulted">({ defaulted: true })

/** A member with a documented default, which is stored when the client leaves it out. */
export const withDefault = <S extends Schema.Top>(schema: S, fallback: NoInfer<S["Encoded"]>) =>
  marked<"defaulted">({ defaulted: true, fallback })(Schema.annotateEncoded({ default: fallback })(schema))

/** A member that the server generates when the client leaves it out. */
export const generated = (how: NonNullable<Marker["generated"]>) =>
  marked<"defaulted">({ defaulted: true, generated: how })

/** A list that a write cannot leave out. */
export const required = marked<"required">({ required: true })

/** The resource that has the records of a kind, as in the path of its list. */
const resourceOf: Readonly<Partial<Record<ReferenceKind, string>>> = {
  users: "users",
  locations: "locations",
  groups: "groups",
  assets: "assets",
  categories: "asset-categories",
  metaTags: "meta-tags",
  products: "products"
}

/** The resources whose records a member names, in the document. */
export const referencesKey = "x-references"

/** With the resources of a reference in the document, where a member is read and where it is written. */
export const withReference = <S extends Schema.Top>(schema: S, reference: Reference): S => {
  const kinds = typeof reference === "string" ? [reference] : Object.values(reference.kinds)
  const resources = kinds.flatMap((kind) => resourceOf[kind] ?? [])
  if (resources.length === 0) return schema
  return Schema.flip(Schema.flip(schema).annotateKey({ [referencesKey]: resources })) as unknown as S
}

/** A member, or the elements of a list, that name records which must exist. */
export const references =
  (reference: Reference) =>
  <S extends Schema.Top>(schema: S): S =>
    mark(withReference(schema, reference), { references: reference })

/** The name of the record that a sibling references, for keys that may read the record. */
export const visibleName = (kind: "users" | "locations" | "groups") =>
  Schema.optionalKey(readOnly(Schema.String.annotate({ description: `For keys with \`read:${kind}\`.` })))
