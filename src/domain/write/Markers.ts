import { Schema } from "effect"
import { anyJson } from "../schema/Fields.ts"

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
  /** It has a default, so that creating the record does not need it. */
  readonly defaulted?: true
  /** The default, where the settings of a module store it. */
  readonly fallback?: unknown
  /** What the server generates for a module when the client leaves it out. */
  readonly generated?: "uuid" | "now" | "index" | "languages"
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

/** The records and settings of the service that a field can name. */
export type Kind = "users" | "locations" | "groups" | "files" | "assets" | "categories" | "products" | "locales"

/** What a field names: always the same kind, or the kind that a sibling's value selects. */
export interface Reference {
  readonly by?: string
  readonly kinds: Readonly<Record<string, Kind>>
}

/** A schema as the derivations walk it; its exact type is known to the callers' types only. */
export type Node = Schema.Top & {
  readonly schema?: Node
  readonly value?: Node
  readonly fields?: Fields
}
export type Fields = Readonly<Record<string, Node>>

/** The type of a marked schema carries the marker, so that derived shapes have exact types. */
export interface Marked<out M> {
  readonly "~waypost/marker": M
  readonly Rebuild: Marked<M>
}

const key = "waypost/field"

export const markerOf = (field: Node): Marker => Schema.resolveAnnotationsKey(field)?.[key] ?? {}

const mark =
  <M>(marker: Marker) =>
  <S extends Schema.Top>(schema: S): S & Marked<M> =>
    schema.annotateKey({ [key]: { ...markerOf(schema), ...marker } }) as unknown as S & Marked<M>

/** A member that the server sets; a write accepts and ignores it. */
export const readOnly = mark<"readOnly">({ readOnly: true })

/** A member that a write ignores, whatever is sent for it. */
export const ignored = Schema.optionalKey(readOnly(anyJson.annotate({ readOnly: true })))

/** A member that has another form in writes. */
export const writtenAs =
  <Sent extends Schema.Top>(sent: Sent) =>
  <S extends Schema.Top>(schema: S) =>
    mark<{ readonly sent: Sent }>({ writtenAs: sent })(schema)

/** A member that an operation of its own writes; in the record's own writes it is ignored. */
export const writtenElsewhere = mark<{ readonly sent: typeof ignored }>({ readOnly: true, writtenAs: ignored })

/** A member with a default that the repository or the configuration knows. */
export const defaulted = mark<"defaulted">({ defaulted: true })

/** A list that a write cannot leave out. */
export const required = mark<"required">({ required: true })
