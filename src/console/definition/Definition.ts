import type { Operator } from "../../domain/query/FilterConditions.ts"
import type { Field, FieldKind } from "../../domain/query/FilterFields.ts"
import { memberOf, textsOf } from "../../domain/schema/Json.ts"

/** A value of a record, as a table shows it and a filter compares it. */
export interface Column {
  /** Dotted: `address.city`. */
  readonly path: string
  readonly kind: FieldKind
  /** The words of an enumeration. */
  readonly values: ReadonlyArray<string>
  /** Whether it is in a list, so that a record has any number of it. */
  readonly isInList: boolean
  readonly operators: ReadonlyArray<Operator>
  readonly isSortable: boolean
}

/** An operation that the console offers to a key with all of its permissions. */
export interface Action {
  /** The group and the name of the method of the client. */
  readonly group: string
  readonly name: string
  readonly permissions: ReadonlyArray<string>
  readonly summary: string
  readonly description: string
}

/** The records that belong to a record, which a list of their own has. */
export interface Relation {
  /** The resource of the records: `users`. */
  readonly resource: string
  readonly list: Action
  readonly replace: Action | undefined
}

/** A module of a product. */
export interface Module {
  readonly name: string
  readonly get: Action
  readonly update: Action
  readonly remove: Action
  /** The types of products that can have it themselves. */
  readonly owners: ReadonlyArray<string>
  /** The types of products that can have it themselves or from their parent. */
  readonly holders: ReadonlyArray<string>
}

/** What the console does with the records of a resource. */
export interface Resource {
  /** The name in the paths of the API and of the console, such as `asset-categories`. */
  readonly name: string
  readonly group: string
  readonly description: string
  /** The type of its records in events: `assetCategory`. */
  readonly recordType: string
  /** The value that names a record to people. */
  readonly label: string
  readonly columns: ReadonlyArray<Column>
  /** The paths of the columns that a table shows unless others are chosen. */
  readonly shown: ReadonlyArray<string>
  /** The order of a table unless another one is chosen. */
  readonly sortBy: string
  readonly actions: Readonly<Partial<Record<ActionName, Action>>>
  readonly relations: ReadonlyArray<Relation>
  readonly modules: ReadonlyArray<Module>
  /** The members of its records that are answered only with `include`. */
  readonly included: ReadonlyArray<string>
  /** The columns that a file with records of the resource may have; empty if files cannot be compared with them. */
  readonly imported: ReadonlyArray<Field>
  /** Whether the list takes `openAt`. */
  readonly hasOpeningHours: boolean
  /** Whether the list takes `fields`. */
  readonly hasSelection: boolean
}

/** The operations that any resource may have. */
export const actionNames = [
  "list",
  "search",
  "get",
  "create",
  "update",
  "delete",
  "history",
  "restore",
  "bulk",
  "usages",
  "readiness",
  "deliveries",
  "meta-tags"
] as const
export type ActionName = (typeof actionNames)[number]

/** What the console takes from the definition of the API when it is built. */
export interface Definition {
  readonly version: string
  /** How many operations a bulk request has at most. */
  readonly maxOperations: number
  /** How many records one replacement of a relation takes. */
  readonly maxMembers: number
  /** How many values the operator `in` of a filter takes. */
  readonly maxValues: number
  readonly resources: ReadonlyArray<Resource>
  /** Every operation by `group.name`, for screens that are not about a resource. */
  readonly actions: Readonly<Record<string, Action>>
}

/** Where the schema of a member has the names of the resources whose records the member names. */
export const resourcesKey = "resources"

/** The names of the resources whose records a member names; none for other members. */
export const resourceNamesOf = (schema: object): ReadonlyArray<string> => textsOf(memberOf(schema, resourcesKey))

/** A JSON Schema of a form, whose references are in `$defs`. */
export interface FormSchema {
  readonly [member: string]: unknown
}

/** The forms by `group.name` of their operation. */
export interface Forms {
  readonly forms: Readonly<Record<string, FormSchema>>
  readonly definitions: Readonly<Record<string, FormSchema>>
}
