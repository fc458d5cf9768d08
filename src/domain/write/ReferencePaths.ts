import {
  type Fields,
  fieldsOf,
  inner,
  isList,
  type ReferenceKind,
  markerOf,
  type Node,
  type Shaped
} from "./Markers.ts"

/** A member on the way to a reference. */
export interface Step {
  readonly name: string
  readonly isList: boolean
}

/** Where the fields of a record or a module name records of a kind. */
export interface ReferencePath {
  readonly kind: ReferenceKind
  readonly steps: ReadonlyArray<Step>
  /** The sibling of the last member, and its value, that select the kind. */
  readonly where?: { readonly member: string; readonly value: string }
}

/** Every `references(…)` of the fields. */
export const referencePathsOf = (whole: Shaped): ReadonlyArray<ReferencePath> => pathsIn(fieldsOf(whole), [])

const pathsIn = (fields: Fields, before: ReadonlyArray<Step>): ReadonlyArray<ReferencePath> =>
  Object.entries(fields).flatMap(([name, field]) => {
    const schema = inner(field)
    const steps = [...before, { name, isList: isList(schema) }]
    const { references } = markerOf(field)
    if (references === undefined) return pathsIn(fieldsIn(schema), steps)
    if (typeof references === "string") return [{ kind: references, steps }]
    const { by, kinds } = references
    return Object.entries(kinds).map(([value, kind]) => ({ kind, steps, where: { member: by, value } }))
  })

/** The fields of a nested record, or of the elements of a list. */
const fieldsIn = ({ fields, value }: Node): Fields => fields ?? (value === undefined ? {} : fieldsIn(inner(value)))

/** The dotted path of members in an answer; a `uuid` at its end stands for the record that has it. */
export const pathOfNames = (names: ReadonlyArray<string>): string =>
  (names.length > 1 && names.at(-1) === "uuid" ? names.slice(0, -1) : names).join(".")

export const pathOf = ({ steps }: ReferencePath): string => pathOfNames(steps.map(({ name }) => name))
