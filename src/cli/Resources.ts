import type { Effect, Schema } from "effect"
import type { Client } from "../client/Client.ts"
import type { Condition } from "../domain/Filter.ts"
import { Location, LocationCreate, type LocationId, readOnly } from "../domain/Location.ts"
import type { Pagination } from "../domain/Pagination.ts"
import type { Failure } from "./Failures.ts"

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
  readonly create: Schema.Codec<Create, unknown>
  /** The member by which a row finds the record it updates; a text that is unique among the records. */
  readonly key: string
  /** The error that says another record has the same key. */
  readonly duplicate: string
  /** Members no client writes. */
  readonly readOnly: ReadonlyArray<string>
  readonly calls: (client: Client["Service"]) => {
    readonly list: (query: ListRequest) => Effect.Effect<Page<Record>, Failure>
    readonly create: (payload: Create) => Effect.Effect<unknown, Failure>
    readonly update: (uuid: string, payload: Create) => Effect.Effect<unknown, Failure>
  }
}

/** The types are checked here, once, and forgotten: import and export treat every resource alike. */
const resource = <Record, Create>(definition: Resource<Record, Create>): Resource => definition as unknown as Resource

export const locations = resource({
  name: "locations",
  record: Location,
  create: LocationCreate,
  key: "identifier",
  duplicate: "DuplicateIdentifierError",
  readOnly,
  calls: ({ locations }) => ({
    list: (query) => locations.list({ query }),
    create: (payload) => locations.create({ payload }),
    update: (uuid, payload) => locations.update({ params: { uuid: uuid as LocationId }, payload })
  })
})

/** Everything that can be imported and exported, in the order in which a whole installation would be. */
export const resources: ReadonlyArray<Resource> = [locations]
