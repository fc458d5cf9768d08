import type { Resource } from "../transfer/Resource.ts"
import * as Rows from "../../domain/files/Rows.ts"
import { aligned } from "../records/Table.ts"

const kinds: Readonly<Record<Rows.Column["kind"], string>> = {
  string: "text",
  uuid: "uuid",
  enum: "text",
  number: "number",
  date: "date and time",
  day: "date",
  boolean: "true or false"
}

const typeOf = ({ kind, lists, meaning, values }: Rows.Column) => {
  const type = meaning === "country" ? "country" : meaning === "phone" ? "phone number" : kinds[kind]
  const own = kind === "enum" ? values.join(" | ") : type
  return lists.length > 0 ? `list of ${own}` : own
}

/** The columns that a file of the resource can have, with their types, and which ones it needs. */
export const columnList = (resource: Resource): string =>
  aligned([
    ["column", "type", ""],
    ...Rows.columnsOf(resource.create).map((column) => [column.path, typeOf(column), column.optional ? "" : "required"])
  ])
