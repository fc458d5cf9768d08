import type { Schema } from "effect"
import { type Field, fieldsOf } from "../query/FilterFields.ts"

/** The steps to the value at a path; of a list, they lead to its first element. */
const stepsTo = ({ lists, segments }: Field, length: number): ReadonlyArray<string> =>
  segments.slice(0, length).flatMap((segment, index) => (lists.includes(index + 1) ? [segment, "0"] : [segment]))

/** The paths of a record that a template can name: of its values, and of the objects and lists that hold them. */
export const sourcePathsOf = (record: Schema.Top): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(
    fieldsOf(record).flatMap((field) =>
      field.segments.map(
        (_, index) => [field.segments.slice(0, index + 1).join("."), stepsTo(field, index + 1)] as const
      )
    )
  )
