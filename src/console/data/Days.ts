import type { Condition } from "./Filters.ts"

/**
 * Conditions on times by days of the browser, in whose time zone tables show them. A day without a time would be one of UTC for
 * the service.
 */

/** The first millisecond of a day such as `2026-01-31`. */
export const startOf = (day: string): Date => new Date(`${day}T00:00:00`)

const endOf = (day: string): Date => {
  const next = startOf(day)
  next.setDate(next.getDate() + 1)
  // The clock may have gone forward at the start of the day.
  next.setHours(0, 0, 0, 0)
  return new Date(next.getTime() - 1)
}

const two = (value: number) => value.toString().padStart(2, "0")

const dayAt = (time: Date): string =>
  `${time.getFullYear().toString().padStart(4, "0")}-${two(time.getMonth() + 1)}-${two(time.getDate())}`

/** A time as an input of the browser has it: in its time zone, without seconds that are zero. */
export const localOf = (time: string): string => {
  const at = new Date(time)
  if (Number.isNaN(at.getTime())) return ""
  const [seconds, millis] = [at.getSeconds(), at.getMilliseconds()]
  const rest =
    millis > 0 ? `:${two(seconds)}.${millis.toString().padStart(3, "0")}` : seconds > 0 ? `:${two(seconds)}` : ""
  return `${dayAt(at)}T${two(at.getHours())}:${two(at.getMinutes())}${rest}`
}

/** The time that such an input has, as the service takes it; empty for a year that no time has. */
export const timeOf = (local: string): string => {
  const time = new Date(local)
  return Number.isNaN(time.getTime()) ? "" : printed(time)
}

/** The first and the last time that the service knows. */
const limits = [Date.parse("0001-01-01T00:00:00.000Z"), Date.parse("9999-12-31T23:59:59.999Z")] as const

const printed = (time: Date): string => new Date(Math.min(Math.max(time.getTime(), limits[0]), limits[1])).toISOString()

/** The conditions that hold for times of a day, or for those before or after it. */
export const conditionsOn = (field: string, operator: string, day: string): ReadonlyArray<Condition> => {
  if (Number.isNaN(startOf(day).getTime())) return [{ field, operator, values: [day] }]
  if (operator === "equals") return ["gte", "lte"].flatMap((bound) => conditionsOn(field, bound, day))
  const time = operator === "gt" || operator === "lte" ? endOf(day) : startOf(day)
  return [{ field, operator, values: [printed(time)] }]
}

/** A condition as it is shown: what it was chosen as, and the conditions of the filter that it stands for. */
export interface Shown extends Condition {
  /** The day that a time is compared with, if it is a whole one. */
  readonly day: string | undefined
  readonly parts: ReadonlyArray<Condition>
}

const bounds = new Set(["gt", "gte", "lt", "lte"])

/** The day whose first or last millisecond a condition compares with, as `conditionsOn` makes it. */
const dayOf = ({ field, operator, values: [value = ""] }: Condition): string | undefined => {
  if (!bounds.has(operator) || Number.isNaN(Date.parse(value))) return undefined
  const day = dayAt(new Date(value))
  return conditionsOn(field, operator, day)[0]?.values[0] === value ? day : undefined
}

/** Conditions as they are shown; the two that hold for the times of one day are one. */
export const shownOf = (
  conditions: ReadonlyArray<Condition>,
  isTime: (field: string) => boolean
): ReadonlyArray<Shown> => {
  const all: Array<Shown> = []
  for (const condition of conditions) {
    const { field, operator } = condition
    const day = isTime(field) ? dayOf(condition) : undefined
    const before = all.at(-1)
    const isEnd = day !== undefined && operator === "lte" && before?.operator === "gte"
    if (isEnd && before.field === field && before.day === day) {
      all.splice(-1, 1, { field, operator: "equals", values: [day], day, parts: [...before.parts, condition] })
    } else {
      all.push({ ...condition, day, parts: [condition] })
    }
  }
  return all
}
