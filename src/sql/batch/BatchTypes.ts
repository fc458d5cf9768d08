import type { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Condition } from "../../domain/query/FilterConditions.ts"
import type * as Written from "../../domain/write/Written.ts"
import type { Fragment } from "../Fragment.ts"
import type { Relations } from "../Links.ts"
import type { Values } from "../RecordValues.ts"
import type { RelationKind } from "../../domain/write/Relations.ts"
import type { Issue } from "../../domain/write/RequestErrors.ts"

/** The business key by which a record is found: its member, and what the unique rule of the table compares. */
export interface BusinessKey {
  readonly member: string
  readonly compared?: (key: Fragment) => Fragment
}

/** What a resource says about writing many of its records. A `prepare` that fails leaves the write to its operation. */
export interface BatchOptions {
  readonly key?: BusinessKey
  /** Other members that are unique. */
  readonly unique?: ReadonlyArray<string>
  /** The values that an insert stores. Only the resource knows the types of its payloads. */
  create(payload: unknown): Effect.Effect<Values, unknown>
  /** The values that a patch sets. */
  update(patch: unknown): Effect.Effect<Values, unknown>
  readonly relations?: Relations
  /** Whether the order in which records are deleted makes no difference. */
  readonly deletes: boolean
  /**
   * For records that a trial computes instead of writing them, because what is stored follows from the values, the check
   * constraints of the table and this: no trigger changes them, and only the key is unique.
   */
  readonly computable?: Computable
  /**
   * A member from which generated columns are cheap to compute. For each row of an update that changes none of them, PostgreSQL 18
   * reads the expressions of all generated columns again; so an update sets this one, if need be to itself.
   */
  readonly generating?: string
}

/** What triggers reject, which a trial does not run. */
export interface Computable {
  /** Whether they allow the row `now`, which is new or replaces the row `before`. */
  readonly isAllowed: (now: Fragment, before?: Fragment) => Fragment
}

/** A record that an operation names by its uuid or by its key. */
export type Target = { readonly uuid: string } | { readonly key: string }

/** A record that was found, with the values of its unique members. */
export interface Located {
  readonly uuid: string
  readonly unique: Values
}

/** Writes many records with one statement. A record that a statement leaves out is `undefined` in its place. */
export interface Batch extends Pick<BatchOptions, "deletes"> {
  readonly key: string | undefined
  /** Whether the unique rule takes the keys of each pair for the same. */
  readonly areSameKeys: (
    pairs: ReadonlyArray<readonly [string, string]>
  ) => Effect.Effect<ReadonlyArray<boolean>, SqlError.SqlError>
  /** The members whose values no two records share. */
  readonly unique: ReadonlyArray<string>
  readonly relations: ReadonlyArray<RelationKind>
  /** The uuids that no record of a relation has. */
  readonly missing: Relations["missing"]
  readonly differing: Relations["differing"]
  /**
   * Runs the writes of a request in one transaction, outside of another one in turn with those of other requests; `locks` says
   * whether they write rows of join tables.
   */
  readonly transaction: <A, E>(
    write: Effect.Effect<A, E>,
    options: { readonly locks: boolean }
  ) => Effect.Effect<A, Exclude<E, SqlError.SqlError>>
  readonly prepareCreate: (payload: unknown) => Effect.Effect<Values, unknown>
  readonly preparePatch: (patch: unknown) => Effect.Effect<Values, unknown>
  /** Finds records, and locks them in one order. */
  readonly locate: (
    targets: ReadonlyArray<Target>
  ) => Effect.Effect<ReadonlyArray<Located | undefined>, SqlError.SqlError>
  /**
   * Inserts records. With `skipsTaken` it leaves out those with a value that another record has, for which PostgreSQL takes 8 us
   * more for each row; without it one such record fails the statement.
   */
  readonly insert: (records: ReadonlyArray<Values>, options: { readonly skipsTaken: boolean }) => Writing
  /** Patches records, all of them with values for the same members. */
  readonly patch: (patches: ReadonlyArray<{ readonly uuid: string; readonly values: Values }>) => Writing
  readonly remove: (uuids: ReadonlyArray<string>) => Writing
  /** None for a resource without a business key. */
  readonly comparison: Comparison | undefined
  /** None for a resource whose writes can only be tried by writing. */
  readonly trials: Effect.Effect<() => Trial, SqlError.SqlError> | undefined
}

/** The SQL by which records are compared with those of a file. */
export interface Comparison {
  readonly table: Fragment
  /** The business key of the row `t`. */
  readonly key: Fragment
  /** A key as the unique rule of the table compares it. */
  readonly compared: (key: Fragment) => Fragment
  /** The JSON text of the members that are written, of the row `t`. */
  readonly json: Fragment
  readonly where: (filter: ReadonlyArray<Condition>) => Fragment
  /** None for records of which each is deleted whatever happens to the others. */
  readonly deletions?: Deletions
}

/** How the deletions of the records of a plan depend on other records. */
export interface Deletions {
  /** Whether the row `t` is deleted before the others. */
  readonly isFirst: Fragment
  /**
   * Selects the `record` of each deletion that cannot be done, and the `count` of the records because of which, from the rows of the plan,
   * `planned (record, kind, data)`.
   */
  readonly kept: Fragment
  /** The issues of the deletion of one record. */
  readonly issuesOf: (count: number) => ReadonlyArray<Issue>
}

export type Writing = Effect.Effect<ReadonlyArray<Written.Written | undefined>, SqlError.SqlError>

/** Computes writes without storing them. */
export interface Trial extends Pick<Batch, "insert" | "locate" | "patch"> {
  /** The JSON texts of the members of records as they would be stored, by uuid. */
  readonly tried: ReadonlyMap<string, string>
}
