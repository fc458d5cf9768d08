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
    array(select distinct country || ':' || code from unnest(listed.codes) code) as claims,
    array(select distinct country || ':' || containing from unnest(listed.codes) code,
      unnest(waypost_containing_codes(country, code)) containing) as containing
  from locations t, lateral (select coalesce(t.address->>'countryCode', '') as country offset 0) countries,
    lateral (select array(select waypost_postal_code(code) from unnest(t.postal_codes) code) as codes offset 0) listed
  where t.uuid = any (${uuids}::uuid[])`

/** How many degrees of longitude are a little more than 10 m at the place `m`. */
const width = sql.literal(`least(360, 0.0000901 / greatest(cos(radians(least(90, abs(m.latitude) + 0.0001))), 1e-9))`)

/** Conditions on rows `k` of the keys that a rule compares with a row `m`; an index serves each. */
export const comparisons = {
  duplicateAddress: [sql`k.address = m.address`],
  // Beyond the date line the longitudes begin again.
  duplicateCoordinates: [0, 360, -360].map((shift) => {
    const degrees = sql.literal(String(shift))
    return sql`${sql.literal(shift === 0 ? "true" : "abs(m.longitude) > 179")}
      and k.latitude_band = any (array[m.latitude_band - 1, m.latitude_band, m.latitude_band + 1])
      and k.longitude between m.longitude + ${degrees} - ${width} and m.longitude + ${degrees} + ${width}
      and 2 * 6371008.8 * asin(least(1, sqrt(sin(radians(k.latitude - m.latitude) / 2) ^ 2
        + cos(radians(k.latitude)) * cos(radians(m.latitude)) * sin(radians(k.longitude - m.longitude) / 2) ^ 2))) < 10`
  }),
  territoryConflict: [sql`k.claims && m.containing`, sql`k.containing && m.claims`]
} as const satisfies Readonly<Partial<Record<QualityRule, ReadonlyArray<Fragment>>>>

const shares = (conditions: ReadonlyArray<Fragment>) =>
  sql.or(
    conditions.map(
      (where) => sql`exists (select from location_quality_keys k where ${where} and k.location_uuid <> m.location_uuid)`
    )
  )

/** The facts of the locations with these uuids, whose keys are stored. */
export const factsOf = (uuids: ReadonlyArray<string>): Fragment => sql`
  select t.uuid, t.address, t.contact, t.invoice, t.coordinates, cardinality(t.postal_codes) > 0 as "hasPostalCodes",
    (t.has_media and exists (select from location_media logo where logo.location_uuid = t.uuid and logo.is_logo)) as "hasLogo",
    ${shares(comparisons.duplicateAddress)} as "sharesAddress",
    ${shares(comparisons.duplicateCoordinates)} as "sharesCoordinates",
    ${shares(comparisons.territoryConflict)} as "sharesTerritory"
  from locations t join location_quality_keys m on m.location_uuid = t.uuid
  where t.uuid = any (${uuids}::uuid[])`
