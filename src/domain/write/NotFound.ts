import { Schema } from "effect"
import { Uuid } from "../schema/Fields.ts"
import { listed } from "./Excerpts.ts"

/** The definition of the error about a record that does not exist: its tag, fields and status. */
export const notFoundError = <const Tag extends string>(tag: Tag) =>
  [tag, { message: Schema.String, uuid: Uuid }, { httpApiStatus: 404 }] as const

const many = { message: Schema.String, uuid: Schema.optionalKey(Uuid), uuids: Schema.optionalKey(Schema.Array(Uuid)) }

/** The definition of the error about records that others name: one error has all that do not exist. */
export const manyNotFoundError = <const Tag extends string>(tag: Tag) => [tag, many, { httpApiStatus: 404 }] as const

const message = (kind: string, uuids: ReadonlyArray<string>): string => `No ${kind} has the uuid ${listed(uuids)}`

export const notFound = (kind: string, uuid: string) => ({ message: message(kind, [uuid]), uuid })
export const allNotFound = (kind: string, uuids: ReadonlyArray<string>) => ({ message: message(kind, uuids), uuids })
