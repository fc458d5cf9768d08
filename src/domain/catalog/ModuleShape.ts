import { type DateTime, Schema } from "effect"
import { Timestamp } from "../schema/Fields.ts"
import { ProductId } from "./ProductId.ts"
import type { Problem } from "../write/Completion.ts"
import { readOnly } from "../write/Markers.ts"
import type { Lookup } from "../write/References.ts"
import { replacement } from "../write/Shape.ts"
import { type ModuleName, pascal } from "./ModuleName.ts"

/** The settings of a module as they are stored. */
export type Settings<F extends Schema.Struct.Fields> = Schema.Struct.Encoded<F>

/**
 * What a client may send for a value, at most. Every member may be absent or `null` here, also one that the service requires or
 * that must not be `null`: the fields of a module do not have that in their types.
 */
export type Sent<T> = T extends string | number | boolean | null | undefined | DateTime.Utc
  ? T
  : T extends ReadonlyArray<infer E>
    ? ReadonlyArray<Sent<E>>
    : { readonly [K in keyof T]?: Sent<T[K]> | null }

/** The problems of settings as a whole, which no single field can report. */
type Rules<A> = (settings: A, lookup: Lookup) => ReadonlyArray<Problem>

export interface Module<Name extends ModuleName, F extends Schema.Struct.Fields> {
  readonly name: Name
  readonly fields: F
  readonly answer: Schema.Struct<ReturnType<typeof envelope<Name>> & F>
  readonly update: Schema.Codec<Sent<Schema.Struct.Type<F>>, unknown>
  readonly rules: Rules<unknown>
}

const envelope = <const Name extends ModuleName>(name: Name) => ({
  productUuid: ProductId,
  module: Schema.Literal(name),
  active: Schema.Literal(true),
  inheritedFrom: Schema.optionalKey(
    ProductId.pipe(Schema.annotateEncoded({ description: "The parent whose module this is." }))
  ),
  editedAt: Timestamp
})

/**
 * Declares a module by the fields of its answer, from which the shape that a client sends is derived. `rules` holds for
 * the settings as `complete` makes them.
 */
export const make = <const Name extends ModuleName, const F extends Schema.Struct.Fields>(
  name: Name,
  fields: F,
  rules: Rules<Settings<F>> = () => []
): Module<Name, F> => {
  const identifier = `${pascal(name)}Module`
  const members = envelope(name)
  const ignored = {
    productUuid: readOnly(members.productUuid),
    module: readOnly(members.module),
    active: readOnly(Schema.Boolean),
    inheritedFrom: Schema.optionalKey(readOnly(members.inheritedFrom.schema)),
    editedAt: readOnly(members.editedAt)
  }
  return {
    name,
    fields,
    answer: Schema.Struct({ ...members, ...fields }).annotate({ identifier }),
    update: Schema.Struct(replacement({ fields: { ...ignored, ...fields } })).annotate({
      identifier: `${identifier}Update`
    }) as never,
    rules: rules as Rules<unknown>
  }
}
