import { earthRadius } from "../../domain/locations/Area.ts"
import type { QualityRule } from "../../domain/quality/LocationQuality.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"

/** What the rules on the data of a location are about. */
export interface LocationFacts {
  readonly uuid: string
  readonly address: {
    readonly addressLine1?: string
    readonly city?: string
    readonly countryCode?: string
    readonly zipcode?: string
  } | null
  readonly contact: { readonly phone?: string; readonly mobile?: string; readonly email?: string } | null
  readonly invoice: object | null
  readonly coordinates: { readonly latitude: number; readonly longitude: number } | null
  readonly hasPostalCodes: boolean
  readonly hasLogo: boolean
  readonly sharesAddress: boolean
  readonly sharesCoordinates: boolean
  readonly sharesTerritory: boolean
}

/** Text without case, spaces and hyphens. */
const folded = (text: Fragment) => sql`waypost_fold(regexp_replace(${text}, '[ -]', '', 'g'))`

/** What the locations with these uuids are compared by. */
export const keysOf = (uuids: ReadonlyArray<string>): Fragment => sql`
  select t.uuid as location_uuid,
    ${folded(sql`t.address->>'addressLine1'`)} || ' ' || ${folded(sql`t.address->>'zipcode'`)} as address,
    floor((t.coordinates->>'latitude')::float8 * 10000)::int as latitude_band,
    (t.coordinates->>'latitude')::float8 as latitude, (t.coordinates->>'longitude')::float8 as longitude,
    array(select distinct coalesce(t.country_code, '') || ':' || code from unnest(t.postal_codes) listed,
      waypost_postal_code(listed) code where code <> '') as claims
  from locations t where t.uuid = any (${uuids}::uuid[])`

/** How many degrees of longitude are a little more than 10 m at the place `m`. */
const width = sql.literal(`least(360, 0.0000901 / greatest(cos(radians(least(90, abs(m.latitude) + 0.0001))), 1e-9))`)

/** What a row `m` claims. */
const claims = sql.literal(`unnest(m.claims) claimed,
  lateral (select split_part(claimed, ':', 1) as country, split_part(claimed, ':', 2) as code offset 0) own`)

/**
 * The end of a statement, from its `from` on, on the rows `k` of other locations that break a rule with a row `m`. Claims are looked up one
 * by one, also while PostgreSQL expects that there are none; `end` says how many rows of each are needed.
 */
type Near = (where: Fragment, end: Fragment) => Fragment

/** The rows `k` that each rule compares with a row `m`; an index serves each. */
export const comparisons = {
  duplicateAddress: [(where) => sql`location_quality_keys k where k.address = m.address and ${where}`],
  // Beyond the date line the longitudes begin again.
  duplicateCoordinates: [0, 360, -360].map((shift): Near => {
    const degrees = sql.literal(String(shift))
    return (where) => sql`location_quality_keys k where ${sql.literal(shift === 0 ? "true" : "abs(m.longitude) > 179")}
      and k.latitude_band = any (array[m.latitude_band - 1, m.latitude_band, m.latitude_band + 1])
      and k.longitude between m.longitude + ${degrees} - ${width} and m.longitude + ${degrees} + ${width}
      and ${sql.literal(String(2 * earthRadius))} * asin(least(1, sqrt(sin(radians(k.latitude - m.latitude) / 2) ^ 2
        + cos(radians(k.latitude)) * cos(radians(m.latitude)) * sin(radians(k.longitude - m.longitude) / 2) ^ 2))) < 10
      and ${where}`
  }),
  territoryConflict: [
    (where, end) => sql`${claims}, unnest(waypost_containing_codes(own.country, own.code)) containing, lateral (
      select k.location_uuid from location_quality_claims k
      where k.claim = own.country || ':' || containing and ${where} ${end}) k`,
    // Codes have letters and digits only. One letter contains others in Great Britain only.
    (where, end) => sql`${claims}, lateral (
      select k.location_uuid from location_quality_claims k where k.claim > claimed and k.claim < claimed || '~'
        and length(own.code) > case own.country when 'GB' then 0 else 1 end
        and waypost_contains_code(own.country, own.code, split_part(k.claim, ':', 2)) and ${where} ${end}) k`
  ]
} as const satisfies Readonly<Partial<Record<QualityRule, ReadonlyArray<Near>>>>

const isOther = sql.literal("k.location_uuid <> m.location_uuid")

const shares = (comparisons: ReadonlyArray<Near>) =>
  sql.or(comparisons.map((near) => sql`exists (select from ${near(isOther, sql.literal("limit 1"))})`))

/**
 * The facts of the locations with these uuids, whose keys are stored. The keys of each are looked up by its uuid: with statistics
 * from before most of them were written, a join would read all of them.
 */
export const factsOf = (uuids: ReadonlyArray<string>): Fragment => sql`
  select t.uuid, t.address, t.contact, t.invoice, t.coordinates, cardinality(t.postal_codes) > 0 as "hasPostalCodes",
    (t.has_media and exists (select from location_media logo where logo.location_uuid = t.uuid and logo.is_logo)) as "hasLogo",
    ${shares(comparisons.duplicateAddress)} as "sharesAddress",
    ${shares(comparisons.duplicateCoordinates)} as "sharesCoordinates",
    ${shares(comparisons.territoryConflict)} as "sharesTerritory"
  from locations t, lateral (select * from location_quality_keys where location_uuid = t.uuid offset 0) m
  where t.uuid = any (${uuids}::uuid[])`
