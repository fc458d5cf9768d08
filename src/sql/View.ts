import type { Condition } from "../domain/query/FilterConditions.ts"
import type { Field } from "../domain/query/FilterFields.ts"
import { isDefault } from "../domain/query/Selection.ts"
import type { Column } from "./Columns.ts"
import type { Fragment } from "./Fragment.ts"
import type { Place } from "./lists/Keyset.ts"
import type { AnswerRequest } from "./Selected.ts"

/** A page of a list, with the defaults filled in. */
export interface Page {
  readonly limit: number
  readonly offset: number
  readonly sortBy: string
  readonly sortOrder: "asc" | "desc"
  readonly filter?: ReadonlyArray<Condition> | undefined
  /** Where a page begins that has no number: behind a place, or at the start. */
  readonly after?: Place | "start" | undefined
  /** Whether the records are counted. */
  readonly isCounted: boolean
  /**
   * Whether one plan suits all such pages, whatever the patterns of their filters. Only counted pages are planned like that:
   * they find all matching rows, while a page that stops at its last row may walk through an index that has few of them.
   */
  readonly isPlannedOnce?: boolean
  /** Whether it may have many megabytes. */
  readonly isLarge?: boolean
}

/** An order that a view has and its records have not. */
export interface OwnOrder {
  /** The expression to sort by, never null. */
  readonly key: Fragment
  /** The kind of its values; text unless given. */
  readonly kind?: Field["kind"]
  readonly walk?: Walk
}

/** How an index finds the first rows of an order that it does not have. */
export interface Walk {
  /** An order that the index has, and that is nearly the same. */
  readonly order: Fragment
  /** Whether a row is among those that have at most this key, which the index finds; it may hold for others too. */
  readonly isWithin: (key: Fragment) => Fragment
}

/** Records as one request sees them. */
export interface View extends AnswerRequest {
  /** Columns of one field each that a filter names besides those of the record. */
  readonly keyed?: ReadonlyArray<Column> | undefined
  /** The order by a field, if the view has its own. */
  readonly order?: (sortBy: string) => OwnOrder | undefined
  /** What narrows a list: other rows, one for each row `t`, and their expression of its uuid. */
  readonly source?: Source | undefined
  /** The rows instead of `source` behind a cursor that was made with these. */
  readonly fallback?: Source | undefined
  /** Whether each of its records may take long. */
  readonly isLong?: boolean | undefined
  /** Whether an index gives the order, so that a page need not find all records first. */
  readonly isWalked?: boolean | undefined
  /** A condition on each row `t`, in addition to those of a filter. */
  readonly where?: Fragment | undefined
  readonly scope?: Scope | undefined
}

/** Whether the answer is the one that a request without parameters gets. */
export const isPlain = (view: View = {}): boolean =>
  isDefault(view) && view.columns === undefined && view.members === undefined && view.added === undefined

/** Whether a list has less than all records, or than all of its scope. */
export const isNarrowed = (
  { filter }: { readonly filter?: ReadonlyArray<Condition> | undefined },
  { source, where }: View
): boolean => filter !== undefined || source !== undefined || where !== undefined

export interface Source {
  /** Identifies the rows, where the same request may have others. */
  readonly name?: string
  readonly from: Fragment
  readonly uuid: Fragment
}

/** The records that belong to another one. */
export interface Scope {
  /** Identifies the scope among those of the list. */
  readonly name: string
  /** Whether the record with this uuid belongs. */
  readonly where: (uuid: Fragment) => Fragment
  /** How many records belong. */
  readonly total: Fragment
  /** Identifies the set of the records that belong, if it can be replaced. */
  readonly setTag?: Fragment
  /** Whether the other record exists. */
  readonly found: Fragment
  /** Whether one plan suits the lists of all such records: it takes longer to plan than to run, and the values do not matter. */
  readonly isPlannedOnce?: boolean
}
