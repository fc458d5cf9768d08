import type { Effect, Schema } from "effect"
import type { Client } from "../../client/Client.ts"
import type { Condition } from "../../domain/query/FilterConditions.ts"
import type { Pagination } from "../../domain/query/Pagination.ts"
import type { Shaped } from "../../domain/write/Markers.ts"
import type { Failure } from "../Failures.ts"
import type { Json } from "./Row.ts"

/** The list parameters that the command line uses. */
export interface ListRequest {
  readonly limit: number
  readonly after?: string
  readonly total?: boolean
  readonly sortBy: "createdAt"
  readonly sortOrder: "asc"
  readonly filter?: ReadonlyArray<Condition>
}

/** A page of a list, as the typed client decodes it. */
export interface Page<Record> {
  readonly data: ReadonlyArray<Record>
  readonly pagination: Pagination
}

/** A kind of record that can be imported and exported. */
export interface Resource<Record = unknown, Create = unknown> {
  readonly name: string
  readonly record: Schema.Codec<Record, Json>
  readonly create: Schema.Codec<Create, Json> & Shaped
  /** Notes on the files of this resource, for the help. */
  readonly note?: string
  /** The unique text member by which a row finds the record to update. */
  readonly key: string
  /** Whether keys that differ in case only are the same. */
  readonly foldsKey?: boolean
  /** The error of a duplicate key. */
  readonly duplicate: string
  /** The error of a reference to a record which a later row may create. */
  readonly late?: string
  /** Whether an encoded record already has the values of a row; default: `Rows.covers`. */
  readonly has?: (existing: Json, wanted: Json) => boolean
  /** Whether rows are sent in plans: those of others name records that are created by the same file, or have relations. */
  readonly isPlanned?: true
  /** The record that the service reads, where that of a file has names in the place of uuids. */
  readonly toApi?: (client: Client["Service"]) => (record: object) => Effect.Effect<object, Failure>
  /** With `flat`, records are read without the members that a table cannot hold. */
  readonly calls: (
    client: Client["Service"],
    options?: { readonly flat?: boolean }
  ) => {
    list(query: ListRequest): Effect.Effect<Page<Record>, Failure>
    create(payload: Create): Effect.Effect<unknown, Failure>
    update(uuid: string, payload: Create): Effect.Effect<unknown, Failure>
  }
}
