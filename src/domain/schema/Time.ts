import { Result, Schema } from "effect"
import { patternText } from "./Checks.ts"
import { isTimestamp } from "./Fields.ts"

export const TimeOfDay = patternText(/^(?:[01]\d|2[0-3]):[0-5]\d$/, "a time of day such as 16:30", "16:30")

/** The end of a period, which may be that of the day. */
export const EndOfPeriod = patternText(
  /^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/,
  "a time of day such as 16:30, or 24:00",
  "18:00"
)

/** A day of the calendar, as `YYYY-MM-DD`. */
export const CalendarDay = Schema.String.check(
  Schema.makeFilter<string>((day) => day.length === 10 && isTimestamp(`${day}T00:00:00.000Z`), {
    expected: "a day such as 2026-12-25",
    code: "invalidFormat",
    toJsonSchema: () => ({ format: "date" })
  })
).annotate({ format: "date", examples: ["2026-12-25"] })

const aTimeZone = "an IANA time zone such as Europe/Amsterdam"

const unknownTimeZone = {
  expected: aTimeZone,
  code: "unknownTimeZone",
  // Without a fragment of its own a check loses the annotations that follow it in the JSON Schema.
  toJsonSchema: () => ({})
}

/** A time zone as records have it; offsets are none. */
export const TimeZone = patternText(
  /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/,
  aTimeZone,
  "Europe/Amsterdam"
).check(
  Schema.makeFilter<string>(
    (zone) => Result.isSuccess(Result.try(() => new Intl.DateTimeFormat("en", { timeZone: zone }))),
    unknownTimeZone
  )
)

/** What the platform takes for time zones and the IANA does not have. PostgreSQL reads some of them as other offsets. */
const abbreviations =
  /^(?:ACT|AET|AGT|ART|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|PLT|PNT|PRT|PST|SST|VST)$/i

/** An IANA time zone, as a client sends it. */
export const SentTimeZone = TimeZone.check(
  Schema.makeFilter<string>((zone) => !abbreviations.test(zone), unknownTimeZone)
)
