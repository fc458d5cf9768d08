import type { Schema } from "effect"
import { HistoryExpiredError } from "../domain/changes/Errors.ts"
import { InvalidFilterError } from "../domain/query/Filter.ts"
import { at } from "./changes/Past.ts"
import * as Envelope from "./Envelope.ts"
import type { Including } from "./Included.ts"
import { fields, includable, ListQuery } from "./ListQuery.ts"

/** The schemas of the list of all records of a kind. */
export const list = <S extends Schema.Top, const Sortable extends ReadonlyArray<string>>(
  record: S,
  sortable: Sortable
) => ({ query: ListQuery(record, sortable), success: Envelope.Page(record), error: InvalidFilterError })

/** The schemas of a list whose answer can include other records. */
export const listIncluding = <
  const Sortable extends ReadonlyArray<string>,
  S extends Schema.Top,
  const Names extends ReadonlyArray<string>
>(
  record: Schema.Top,
  sortable: Sortable,
  { answered, names, shapes = [] }: Including<S, Names>
) => ({
  query: { ...ListQuery(record, sortable, answered, ...shapes), ...includable(names) },
  success: Envelope.Page(answered),
  error: InvalidFilterError
})

/** The schemas of the read of one record. */
export const get = <Id extends Schema.Top, S extends Schema.Top, NotFound extends Schema.Top>(
  id: Id,
  record: S,
  notFound: NotFound
) => ({ params: { uuid: id }, query: fields(record), success: Envelope.One(record), error: notFound })

/** The schemas of the read of one record, as it is or as it was. */
export const getAt = <Id extends Schema.Top, S extends Schema.Top, NotFound extends Schema.Top>(
  id: Id,
  record: S,
  notFound: NotFound
) => ({
  params: { uuid: id },
  query: { ...fields(record), ...at },
  success: Envelope.One(record),
  error: [notFound, HistoryExpiredError] as const
})

/** The schemas of the read of one record, as it is or as it was, whose answer can include other records. */
export const getIncluding = <
  Id extends Schema.Top,
  NotFound extends Schema.Top,
  S extends Schema.Top,
  const Names extends ReadonlyArray<string>
>(
  id: Id,
  { answered, names, shapes = [] }: Including<S, Names>,
  notFound: NotFound
) => ({
  params: { uuid: id },
  query: { ...fields(answered, ...shapes), ...includable(names), ...at },
  success: Envelope.One(answered),
  error: [notFound, HistoryExpiredError] as const
})

/** The schemas of the deletion of one record. */
export const remove = <Id extends Schema.Top, NotFound extends Schema.Top>(id: Id, notFound: NotFound) => ({
  params: { uuid: id },
  success: Envelope.Written(id),
  error: notFound
})
