import { type Fragment, sql } from "../Fragment.ts"

const mebibyte = 1024 * 1024

/** Bytes of the JSON of an answer. A larger one, which is in memory several times, is rejected. */
export const maxAnswerBytes = 15 * mebibyte

/** Bytes of a page that takes no turn among the large pages of keys. A larger one is in memory several times. */
export const maxSmallBytes = 2 * mebibyte

/** Bytes of the records or events in a page of the log; its first one may have more. */
export const maxLogBytes = 8 * mebibyte

const maxAnswerSql = sql.literal(String(maxAnswerBytes))

/** The text of a JSON array of what `string_agg` takes. */
export const arrayOf = (objects: Fragment) => sql`'[' || coalesce(string_agg(${objects}), '') || ']'`

/**
 * The JSON array of records, which are read one after the other, so that no more are read than an answer may have; null when it is longer.
 * The query has one column `keys`, an array, and `jsonOf` is the query of the JSON of a key.
 */
export const oneByOne = (keys: Fragment, jsonOf: (key: Fragment) => Fragment) => sql`(
  with recursive listed as materialized (${keys}), built as (
    select 0 as place, null::text as json, 1::bigint as bytes
    union all
    select built.place + 1, item.json, built.bytes + octet_length(item.json) + 1 from built, listed, lateral (
      select (${jsonOf(sql`listed.keys[built.place + 1]`)}) as json offset 0
    ) item where built.place < cardinality(listed.keys) and built.bytes <= ${maxAnswerSql}
  ) select case when max(bytes) <= ${maxAnswerSql} then ${arrayOf(sql`json, ','`)} end from built)`

/** The column `json` of the only row of a query; null when it is longer than an answer. */
export const withinAnswer = (query: Fragment) =>
  sql`(select case when octet_length(json) <= ${maxAnswerSql} then json end from (${query}) whole)`
