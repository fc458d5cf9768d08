import type { Effect, Schema } from "effect"
import type { Json } from "../../domain/schema/Json.ts"
import type { Client } from "../../client/Client.ts"
import type { PlanResource } from "../../domain/plans/Plan.ts"
import type { Condition } from "../../domain/query/FilterConditions.ts"
import type { Pagination } from "../../domain/query/Pagination.ts"
import type { Shaped } from "../../domain/write/Markers.ts"
import type { Failure } from "../Failures.ts"
import type { NamedKind } from "./Names.ts"
import type { Reason } from "../files/Row.ts"

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

/** What plans write of the records of a file. */
interface Planned {
  /** The records as a plan writes them; `undefined` for one that is left to `writes`. */
  readonly choose: (
    client: Client["Service"],
    records: ReadonlyArray<Json>
  ) => Effect.Effect<ReadonlyArray<Json | undefined>, Failure>
  /** What such a record has that plans do not write. */
  readonly unsupported: Reason
}

/** A kind of record that can be imported and exported. */
export interface Resource<Record = unknown, Create = unknown> {
  readonly name: PlanResource
  readonly record: Schema.Codec<Record, Json>
  /** The record of the list, whose fields a filter names; default: `record`. */
  readonly listed?: Schema.Top
  readonly create: Schema.Codec<Create, Json> & Shaped
  /** Notes on the files of this resource, for the help. */
  readonly note?: string
  /** The unique text member by which a row finds the record to update. */
  readonly key: string
  /** Whether keys that differ in case only are the same. */
  readonly foldsKey?: boolean
  /** The error of a duplicate key. */
  readonly duplicate?: string
  /** The error of a reference to a record which a later row may create. */
  readonly late?: string
  /** Whether an encoded record already has the values of a row; default: `Rows.covers`. */
  readonly has?: (existing: Json, wanted: Json) => boolean
  /** How many rows are sent in one plan, if they are larger than those of others. */
  readonly chunk?: number
  /** What plans write of the records of a file, if not all of it. */
  readonly planned?: Planned
  /** The record that the service reads, where that of a file has names in the place of uuids. */
  readonly toApi?: (record: Json, uuidOf: (kind: NamedKind, name: string) => string) => Json
  /** With `flat`, records are read without the members that a table cannot hold. */
  list(
    client: Client["Service"],
    options?: { readonly flat?: boolean }
  ): (query: ListRequest) => Effect.Effect<Page<Record>, Failure>
  /**
   * Creates records with one request, and returns which of them were created. Only for records with one unique member, their key:
   * of others, the order of creations and updates decides which of two rows has a value.
   */
  readonly createAll?: (
    client: Client["Service"]
  ) => (records: ReadonlyArray<Json>) => Effect.Effect<ReadonlyArray<boolean>, Failure>
  /** What writes records that `planned` leaves out. */
  writes?(client: Client["Service"]): {
    create(payload: Create): Effect.Effect<unknown, Failure>
    update(uuid: string, payload: Create): Effect.Effect<unknown, Failure>
  }
}
