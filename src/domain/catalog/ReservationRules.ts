import type { Problem } from "../write/Completion.ts"
import { unless } from "./ModuleFields.ts"
import type { ReservationsModule } from "./modules/Reservations.ts"

export type ReservationSettings = (typeof ReservationsModule)["answer"]["Encoded"]

/** The time of a reservation, in milliseconds since 1970. */
export interface Period {
  readonly from: number
  readonly until: number
}

const minute = 60_000
const day = 1440 * minute

const lengths = { hour: 60 * minute, day, week: 7 * day } as const

/** The length of a unit of the module. Days have 24 hours, because times are in UTC. */
export const unitOf = ({ unit }: ReservationSettings): number => lengths[unit]

/** The problems of a period with the settings of the module; `now` is in milliseconds since 1970. */
export const problemsOf = (period: Period, settings: ReservationSettings, now: number): ReadonlyArray<Problem> => {
  if (period.from >= period.until) return unless(false, "until", "notInOrder", "until must be after from")
  return [
    ...ofDuration(period, settings),
    ...ofAdvance(period, settings, now),
    ...ofAvailability(period, settings),
    ...ofBlackouts(period, settings)
  ]
}

const ofDuration = ({ from, until }: Period, settings: ReservationSettings) => {
  const { maxDuration = Infinity, minDuration } = settings
  const units = (until - from) / unitOf(settings)
  return [
    ...unless(
      units >= minDuration,
      "until",
      "tooShort",
      `A reservation is for at least ${count(minDuration, settings)}`
    ),
    ...unless(units <= maxDuration, "until", "tooLong", `A reservation is for at most ${count(maxDuration, settings)}`)
  ]
}

/** Compared from the start of the minute, so that a reservation can begin now. */
const ofAdvance = ({ from }: Period, settings: ReservationSettings, now: number) => {
  const { leadTime, maxAdvance } = settings
  const earliest = Math.floor(now / minute) * minute + leadTime * unitOf(settings)
  const latest = now + maxAdvance * unitOf(settings)
  const early =
    leadTime === 0
      ? "A reservation cannot begin in the past"
      : `A reservation begins at least ${count(leadTime, settings)} from now`
  return [
    ...unless(from >= earliest, "from", "tooEarly", early),
    ...unless(from <= latest, "from", "tooLate", `A reservation begins at most ${count(maxAdvance, settings)} from now`)
  ]
}

/** A reservation begins and ends in the hours of the module; one by the hour is within them as a whole. */
const ofAvailability = ({ from, until }: Period, { availability, unit }: ReservationSettings) => {
  if (availability.length === 0) return []
  const hours = availability.map(hoursOf)
  const begins = closingTime(hours, from) !== undefined
  const ends = closingTime(hours, until - 1) !== undefined
  const message = "The product is not available at this time; see `availability` of the reservations module"
  if (!begins || !ends) {
    return [...unless(begins, "from", "unavailable", message), ...unless(ends, "until", "unavailable", message)]
  }
  const isWithin = unit !== "hour" || isOpenThrough(hours, { from, until: Math.min(until, from + 7 * day) })
  return unless(isWithin, "until", "unavailable", "The product is not available all of this time")
}

const ofBlackouts = ({ from, until }: Period, { blackouts }: ReservationSettings) => {
  const blackout = blackouts.find(
    (candidate) => Date.parse(candidate.from) < until && from < Date.parse(candidate.until)
  )
  if (blackout === undefined) return []
  const { reason } = blackout
  const message = `The product is not available from ${blackout.from} until ${blackout.until}`
  return unless(false, "from", "blackout", reason === undefined ? message : `${message}: ${reason}`)
}

/** Hours of a weekday (Monday is 1), in milliseconds of the day. */
interface Hours {
  readonly weekday: number
  readonly opens: number
  readonly closes: number
}

/** A day ends at 24:00, which is no time of day: until 23:59 is until then. */
const hoursOf = ({ from, until, weekday }: ReservationSettings["availability"][number]): Hours => ({
  weekday,
  opens: timeOf(from),
  closes: until === "23:59" ? day : timeOf(until)
})

const timeOf = (time: string) => (Number(time.slice(0, 2)) * 60 + Number(time.slice(3))) * minute

/** When the hours end that a point in time is in; the first day of 1970 was a Thursday. */
const closingTime = (hours: ReadonlyArray<Hours>, time: number): number | undefined => {
  const days = Math.floor(time / day)
  const weekday = ((((days + 3) % 7) + 7) % 7) + 1
  const ofDay = time - days * day
  const current = hours.filter((open) => open.weekday === weekday && open.opens <= ofDay && ofDay < open.closes)
  return current.length === 0 ? undefined : days * day + Math.max(...current.map(({ closes }) => closes))
}

/** Whether hours follow each other without a gap. */
const isOpenThrough = (hours: ReadonlyArray<Hours>, { from, until }: Period): boolean => {
  const closes = closingTime(hours, from)
  return closes !== undefined && (closes >= until || isOpenThrough(hours, { from: closes, until }))
}

const count = (number: number, { unit }: ReservationSettings) => `${number} ${unit}${number === 1 ? "" : "s"}`
