import type { Point } from "../../domain/locations/Area.ts"
import type { CodeRange } from "../../domain/locations/Territory.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { arrayOf, withinAnswer } from "../../sql/lists/AnswerSizes.ts"
import { rangeOf, read } from "../../sql/lists/ListOrder.ts"
import { chordTo, metresTo, walkTo } from "./Areas.ts"

/** The text of an object with the members that have a value. */
const objectOf = (members: Fragment) => sql`json_strip_nulls(json_build_object(${members}))::text`

/** The code as the location `t` lists it. */
const listedAs = (
  code: Fragment
) => sql`(select listed from unnest(t.postal_codes) with ordinality codes (listed, place)
  where waypost_postal_code(listed) = ${code} order by place limit 1)`

/** Behind every code that begins with a code: codes have letters and digits only. */
const behind = (code: string) => sql.literal(`${code} || '~'`)

const isIn = (column: string, countryCode: string | undefined) =>
  countryCode === undefined ? sql`true` : sql`${sql.literal(column)} = ${countryCode}::text`

/** A postal code that is asked for. */
export interface AskedCode {
  /** In upper case, without spaces and hyphens. */
  readonly postalCode: string
  readonly countryCode?: string | undefined
  readonly near?: Point | undefined
  readonly limit: number
}

/** The code, and all that may contain it: by the rule of Great Britain and by that of other countries. */
const codesOf = (code: Fragment) =>
  sql`(waypost_containing_codes('', ${code}) || waypost_containing_codes('GB', ${code}))`

/** What the answer has of a location `t`, before its best matches are known. */
const members = sql.literal("t.uuid, t.name, t.identifier, t.postal_codes, t.address, t.latitude, t.longitude")

const byDistance = (near: Point | undefined) => (near === undefined ? sql`` : sql`${chordTo(near)}, `)

/** The best locations: a longer `reach` is better. */
const order = ({ limit, near }: AskedCode) =>
  sql`order by reach desc, ${byDistance(near)}t.name collate "und-x-icu", t.uuid limit ${limit}::bigint`

/** The array of locations `t`, in their order. */
const serving = ({ near }: AskedCode, options: { rows: Fragment; match: Fragment; postalCode: Fragment }) => sql`
  select ${arrayOf(
    sql`${objectOf(sql`'uuid', t.uuid, 'name', t.name, 'identifier', t.identifier, 'match', ${options.match},
    'postalCode', ${options.postalCode}, 'distanceMetres', ${near === undefined ? sql`null` : metresTo(near)}`)}, ','`
  )} as data
  from (${options.rows}) t`

/**
 * The locations that list a code or its beginning. More of them than are asked for may list short codes, which are not read
 * if longer ones suffice.
 */
export const listedSql = (asked: AskedCode): Fragment => {
  const code = sql`${asked.postalCode}::text`
  const rows = sql`select ${members}, reach from listed join locations t on t.uuid = location_uuid
    where reach >= coalesce((select reach from listed order by reach desc limit 1 offset ${asked.limit - 1}::bigint), 0)
    ${order(asked)}`
  return sql`with listed as materialized (
      select location_uuid, max(length(code)) as reach from location_postal_codes
      where code = any (${codesOf(code)}) and ${isIn("country_code", asked.countryCode)}
        and waypost_contains_code(country_code, code, ${code})
      group by location_uuid
    ) ${serving(asked, {
      rows,
      match: sql`case when reach = length(${code}) then 'exact' else 'prefix' end`,
      postalCode: listedAs(sql`left(${code}, reach)`)
    })}`
}

const zipcode = sql.literal("t.zipcode_compared")
const country = sql.literal("coalesce(t.country_code, '')")
const ownZipcode = sql.literal("t.address->>'zipcode'")

/** The locations whose zip code is the code, or contains it, or is contained in it. */
export const addressedSql = (asked: AskedCode): Fragment => {
  const code = sql`${asked.postalCode}::text`
  const reach = sql`case when length(${zipcode}) <= length(${code}) then length(${zipcode}) else 0 end`
  const rows = sql`select ${members}, ${reach} as reach from locations t
    where (${zipcode} = any (${codesOf(code)}) or (${zipcode} > ${code} and ${zipcode} < ${code} || '~'))
      and ${isIn("t.country_code", asked.countryCode)} and (waypost_contains_code(${country}, ${zipcode}, ${code})
        or waypost_contains_code(${country}, ${code}, ${zipcode}))
    ${order(asked)}`
  return serving(asked, { rows, match: sql`'address'`, postalCode: ownZipcode })
}

/** The nearest locations. The collation is that of the index of countries, for a country with few locations. */
export const nearestSql = (asked: AskedCode & { readonly near: Point }): Fragment => {
  const conditions = [sql`t.latitude is not null`, isIn(`t.country_code collate "und-x-icu"`, asked.countryCode)]
  const sorted = { from: sql`locations t`, uuid: sql`t.uuid`, key: chordTo(asked.near), walk: walkTo(asked.near) }
  const nearest = read(sorted, "asc", conditions, rangeOf(asked.limit, 0))
  const rows = sql`select ${members} from ${nearest} nearest join locations t on t.uuid = nearest.uuid order by nearest.key, t.uuid`
  return serving(asked, { rows, match: sql`'nearest'`, postalCode: ownZipcode })
}

interface Page {
  readonly countryCode?: string | undefined
  readonly limit: number
  readonly offset: number
}

/**
 * A page of the codes that several locations claim. A code that contains others is followed by them in the order of codes,
 * so that one walk over all codes finds the few that do.
 */
export const conflictsSql = ({ countryCode, limit, offset }: Page): Fragment => sql`
  with claimed as materialized (
    select c.code, c.country_code, count(*) as claims from location_postal_codes c
    where ${isIn("c.country_code", countryCode)} group by c.code, c.country_code
  ), containers as materialized (
    select code from (select code, lead(code) over (order by code) as next from (select distinct code from claimed) codes) walk
    where starts_with(next, code)
  ), conflicts as materialized (
    select code, country_code from claimed where claims > 1 and waypost_contains_code(country_code, code, code)
    union select c.code, c.country_code
    from containers p join location_postal_codes c on c.code > p.code and c.code < ${behind("p.code")}
    where ${isIn("c.country_code", countryCode)} and waypost_contains_code(c.country_code, p.code, c.code) and exists (
      select from location_postal_codes k
      where k.code = p.code and k.country_code = c.country_code and k.location_uuid <> c.location_uuid)
  ), page as (
    select * from conflicts order by code, country_code limit ${limit}::bigint offset ${offset}::bigint
  )
  select (select count(*)::int from conflicts) as total,
    ${withinAnswer(sql`
      select ${arrayOf(sql`'{"postalCode":' || to_json(code) || case country_code when '' then '' else ',"countryCode":'
        || to_json(country_code) end || ',"locations":' || ${claimants} || '}', ',' order by code, country_code`)} as json
      from page`)} as data`

/** The locations that claim the code of a row `page`, those that list the code itself first. */
const claimants = sql`(
  select ${arrayOf(
    sql`${objectOf(sql`'uuid', t.uuid, 'name', t.name, 'identifier', t.identifier,
    'postalCode', ${listedAs(sql.literal("claims.code"))}`)}, ',' order by length(claims.code) desc, t.name collate "und-x-icu", t.uuid`
  )}
  from (
    select distinct on (k.location_uuid) k.location_uuid, k.code from location_postal_codes k
    where k.code = any (waypost_containing_codes(page.country_code, page.code)) and k.country_code = page.country_code
    order by k.location_uuid, length(k.code) desc
  ) claims join locations t on t.uuid = claims.location_uuid)`

/**
 * A page of the ranges that no location claims. The codes that are claimed are walked along the index, from the first one on;
 * those behind one that closes its range, or that has letters or too many digits, and begin alike, are skipped.
 */
export const gapsSql = ({ from, to }: CodeRange, { countryCode, limit, offset }: Page): Fragment => {
  const digits = sql`${from.length}::int`
  const isClosing = sql`exists (select from location_postal_codes k where k.code = c.code and ${isIn("k.country_code", countryCode)}
    and waypost_contains_code(k.country_code, k.code, rpad(k.code, ${digits}, '0')))`
  const stepFrom = (from: Fragment) => sql`
    (select c.code from location_postal_codes c where c.code >= ${from} and c.code < ${to}::text || '~'
      and ${isIn("c.country_code", countryCode)} order by c.code limit 1) c,
    lateral (select length(c.code) - length(ltrim(c.code, '0123456789')) as head offset 0) heads,
    lateral (select head = length(c.code) and head <= ${digits} and ${isClosing} as closes offset 0) closing,
    lateral (select case when closes then ${behind("c.code")} when head = length(c.code) and head <= ${digits} then c.code || '!'
      else left(c.code, least(head, ${digits})) || '~' end collate "C" as next offset 0) following`
  const padded = (number: string) => sql`lpad((${sql.literal(number)})::text, ${digits}, '0')`
  return sql`
    with recursive walk as (
      select c.code, closes, following.next from ${stepFrom(sql`${from}::text`)}
      union all select step.* from walk, lateral (select c.code, closes, following.next from ${stepFrom(sql`walk.next`)}) step
    ), closed as (
      select code from walk where closes
      union all select c.code from generate_series(2, ${digits} - 1) length,
        lateral (select left(${from}::text, length) collate "C" as code offset 0) c where ${isClosing}
    ), gaps as materialized (
      select gap from unnest(int8multirange(int8range(${from}::bigint, ${to}::bigint + 1)) - coalesce((
        select range_agg(int8range(rpad(code, ${digits}, '0')::bigint, rpad(code, ${digits}, '9')::bigint + 1)) from closed), '{}')) gap
    ), page as (select gap from gaps order by gap limit ${limit}::bigint offset ${offset}::bigint)
    select (select count(*)::int from gaps) as total,
      (select ${arrayOf(sql`${objectOf(sql`'from', ${padded("lower(gap)")}, 'to', ${padded("upper(gap) - 1")}`)}, ',' order by gap`)}
      from page) as data`
}
