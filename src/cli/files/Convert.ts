import { Predicate, Result, Schema } from "effect"
import { type Json, memberOf } from "../../domain/schema/Json.ts"
import type { Resource } from "../transfer/Resource.ts"
import { type Reason, reasonsIn } from "./Row.ts"
import * as Rows from "../../domain/files/Rows.ts"
import type { Default } from "./Assignments.ts"
import * as Countries from "../../domain/files/Countries.ts"
import { withValue } from "./Members.ts"
import * as Phones from "../../domain/files/Phones.ts"

const textAt = (record: Json, { segments }: Rows.Column) => {
  const value = memberOf(record, ...segments)
  return Predicate.isString(value) && value.trim() !== "" ? value : undefined
}

const filled = (record: Json, { column, value }: Default): Json =>
  memberOf(record, ...column.segments) === undefined ? withValue(record, column.segments, value) : record

const withCode = (record: Json, column: Rows.Column): Json => {
  const typed = textAt(record, column)
  const code = typed === undefined ? undefined : Countries.codeOf(typed)
  return code === undefined ? record : withValue(record, column.segments, code)
}

/**
 * Fills what a record leaves out, turns names of countries into codes, and national phone numbers into international ones.
 * The country of a row is that of its main address. A row whose number cannot be read has all of its problems.
 */
export const converter = ({ create }: Resource, defaults: ReadonlyArray<Default>) => {
  const columns = Rows.columnsOf(create).filter(({ lists }) => lists.length === 0)
  const countries = columns.filter(({ meaning }) => meaning === "country")
  const phones = columns.filter(({ meaning }) => meaning === "phone")
  const main = Phones.countryIn(columns)
  const decode = Schema.decodeUnknownResult(create, { onExcessProperty: "error", errors: "all" })

  const withPhone = (record: Json, column: Rows.Column, reasons: Array<Reason>): Json => {
    const typed = textAt(record, column)
    if (typed === undefined) return record
    const place = main === undefined ? undefined : textAt(record, main)
    const country = place === undefined ? undefined : Countries.codeOf(place)
    // An unknown country is a problem of the row already.
    if (place !== undefined && country === undefined) return record
    const converted = Phones.international(typed, {
      path: column.path,
      ...(country !== undefined && { country }),
      ...(main !== undefined && { countryPath: main.path })
    })
    if (Result.isSuccess(converted)) return withValue(record, column.segments, converted.success)
    reasons.push(converted.failure)
    return record
  }

  const otherReasons = (record: Json, paths: ReadonlySet<string | undefined>): ReadonlyArray<Reason> => {
    const decoded = decode(record)
    if (Result.isSuccess(decoded)) return []
    return reasonsIn(decoded.failure.issue).filter(({ path }) => !paths.has(path))
  }

  return (sent: unknown): Result.Result<unknown, ReadonlyArray<Reason>> => {
    if (!Predicate.isObject(sent)) return Result.succeed(sent)
    const reasons: Array<Reason> = []
    const complete = countries.reduce<Json>(withCode, defaults.reduce<Json>(filled, sent))
    const record = phones.reduce<Json>((current, column) => withPhone(current, column, reasons), complete)
    if (reasons.length === 0) return Result.succeed(record)
    const paths = new Set(reasons.map(({ path }) => path))
    return Result.fail([...reasons, ...otherReasons(record, paths)])
  }
}
