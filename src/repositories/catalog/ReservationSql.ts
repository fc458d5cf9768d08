import { DateTime } from "effect"
import { type ReservationSettings, unitOf } from "../../domain/catalog/ReservationRules.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"

/** A hold that has expired counts no more. */
export const isLive = sql`(hold_expires_at is null or hold_expires_at > now())`

interface Reservation {
  readonly uuid: string
  readonly product: string
  readonly location: string
  readonly from: DateTime.Utc
  readonly until: DateTime.Utc
  readonly copies: number
}

const timestamp = (time: DateTime.Utc) => sql`${DateTime.formatIso(time)}::timestamptz`

/**
 * The copies that rows of `others` take at the same time, at most, in a period that begins at `from`. A row adds its
 * copies when it begins and returns them `gap` after it ends; at one time, copies are returned before others are taken.
 */
const peak = (from: Fragment, gap: Fragment, condition: Fragment) => sql`(
  select coalesce(max(taken), 0)::int from (
    select sum(change) over (order by at, change rows unbounded preceding) as taken from (
      select greatest(starts_at, ${from}) as at, quantity as change from others where ${condition}
      union all select ends_at + ${gap}, -quantity from others where ${condition}
    ) changes
  ) running)`

/**
 * Inserts a reservation if enough copies are free in the whole period, and removes holds of the product that have
 * expired. The caller holds the lock of the product. The time before and after two reservations of one copy does not
 * overlap, so their distance is at least the sum of both.
 */
export const bookSql = (
  { copies, from, location, product, until, uuid }: Reservation,
  settings: ReservationSettings
): Fragment => {
  const [begin, end] = [timestamp(from), timestamp(until)]
  const { approvalRequired, bufferAfter, bufferBefore, holdExpiresAfterMinutes, maxPerLocation, quantity } = settings
  const distance = (bufferBefore + bufferAfter) * unitOf(settings)
  const gap = sql`(${distance}::float8 * interval '1 millisecond')`
  const hold = approvalRequired ? (holdExpiresAfterMinutes ?? null) : null
  const ofLocation = sql`location_uuid = ${location}::uuid and starts_at < ${end} and ends_at > ${begin}`
  return sql`
    with others as (
      select starts_at, ends_at, quantity, location_uuid from product_reservations
      where product_uuid = ${product}::uuid and starts_at < ${end} + ${gap} and ends_at > ${begin} - ${gap} and ${isLive}
    ), free as (
      select ${quantity}::int - ${peak(begin, gap, sql`true`)} as copies,
        ${maxPerLocation ?? null}::int - ${peak(begin, sql`interval '0'`, ofLocation)} as of_location
    ), booked as (
      insert into product_reservations
        (uuid, product_uuid, location_uuid, starts_at, ends_at, quantity, status, hold_expires_at)
      select ${uuid}::uuid, ${product}::uuid, ${location}::uuid, ${begin}, ${end}, ${copies}::int,
        ${approvalRequired ? "held" : "confirmed"}::text, now() + ${hold}::float8 * interval '1 minute'
      from free where ${copies}::int <= copies and (of_location is null or ${copies}::int <= of_location)
      returning uuid
    ), expired as (
      delete from product_reservations where product_uuid = ${product}::uuid and not ${isLive}
    ) select copies as free, of_location as "freeOfLocation", exists (select from booked) as "isBooked" from free`
}

/** Deletes a reservation of the product. */
export const cancelSql = (product: string, reservation: string): Fragment => sql`
  with cancelled as (
    delete from product_reservations
    where uuid = ${reservation}::uuid and product_uuid = ${product}::uuid and ${isLive} returning uuid
  ) select exists (select from products where uuid = ${product}::uuid) as "isProduct",
    exists (select from cancelled) as "isCancelled"`
