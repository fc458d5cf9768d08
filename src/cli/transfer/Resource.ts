import type { Effect, Schema } from "effect"
import type { Client } from "../../client/Client.ts"
import type { Condition } from "../../domain/query/Filter.ts"
import type { Pagination } from "../../domain/query/Pagination.ts"
import type { Shaped } from "../../domain/write/Markers.ts"
import type { Failure } from "../Failures.ts"
import type { Json } from "./Row.ts"

/** What list asks for, as far as this command line asks. */
export interface ListRequest {
  readonly limit: number
  readonly page: number
  readonly sortBy: "createdAt"
  readonly sortOrder: "asc"
  readonly filter?: ReadonlyArray<Condition>
}

interface Page<Record> {
  readonly data: ReadonlyArray<Record>
  readonly pagination: Pagination
}

/** A kind of record that can be imported and exported. */
export interface Resource<Record = unknown, Create = unknown> {
  readonly name: string
  readonly record: Schema.Codec<Record, unknown>
  readonly create: Schema.Codec<Create, unknown> & Shaped
  /** What people have to know of its files, for the help. */
  readonly note?: string
  /** The member by which a row finds the record it updates; a text that is unique among the records. */
  readonly key: string
  /** The error that says another record has the same key. */
  readonly duplicate: string
  /** The error that says a row names a record which a later row may make. */
  readonly late?: string
  /** Whether an encoded record has all that a row wants; `Rows.covers` unless given. */
  readonly has?: (existing: Json, wanted: Json) => boolean
  /** With `flat`, records are read without what has no place in a table. */
  readonly calls: (
    client: Client["Service"],
    options?: { readonly flat?: boolean }
  ) => {
    readonly list: (query: ListRequest) => Effect.Effect<Page<Record>, Failure>
    readonly create: (payload: Create) => Effect.Effect<unknown, Failure>
    readonly update: (uuid: string, payload: Create) => Effect.Effect<unknown, Failure>
  }
}
