import type { Field, FieldKind } from "../../query/FilterFields.ts"
import type { MetaTagDefinition, MetaTagType } from "./MetaTag.ts"

const kinds: Readonly<Record<MetaTagType, FieldKind>> = {
  text: "string",
  longText: "string",
  url: "string",
  integer: "number",
  decimal: "number",
  boolean: "boolean",
  date: "date",
  dateTime: "date",
  select: "enum",
  multiSelect: "enum"
}

/** The field of the values of a meta tag; `options` are the keys of its options. */
export const fieldOf = ({
  key,
  options,
  type
}: Pick<MetaTagDefinition, "key" | "type"> & { readonly options: ReadonlyArray<string> }): Field => {
  const segments = ["metaTags", key]
  return {
    path: segments.join("."),
    segments,
    kind: kinds[type],
    lists: type === "multiSelect" ? [segments.length] : [],
    optional: true,
    values: options,
    signed: false
  }
}
