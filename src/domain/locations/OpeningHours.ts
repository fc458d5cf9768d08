import { Array as Arr, Order, Schema, SchemaIssue } from "effect"
import { writtenAs } from "../write/Markers.ts"
import { atMost } from "../schema/Checks.ts"
import { text } from "../schema/Fields.ts"
import { normalise } from "../schema/Normalise.ts"
import { CalendarDay, EndOfPeriod, SentTimeZone, TimeOfDay, TimeZone } from "../schema/Time.ts"
import { int } from "../schema/WholeNumber.ts"

/** The names that the platform lists, by their lower-case form; read with the first one that is asked for. */
const names = new Map<string, string>()

/** The parts of names that the platform does not list, such as US/Pacific, which are no words with a capital. */
const parts = new Map(
  `ACT BajaNorte BajaSur CHAT ComodRivadavia CST6CDT DeNoronha EasterIsland EST5EDT GB GMT GMT0 IN LHI MST7MDT NSW NZ PST8PDT SU UCT
  US UTC`
    .split(/\s+/)
    .map((part) => [part.toLowerCase(), part] as const)
)

const nameOf = (zone: string): string => {
  if (names.size === 0) for (const name of Intl.supportedValuesOf("timeZone")) names.set(name.toLowerCase(), name)
  const folded = zone.toLowerCase()
  const listed = names.get(folded)
  if (listed !== undefined) return listed
  // All names of up to three letters are capitals, such as CET.
  if (zone.length <= 3) return zone.toUpperCase()
  return folded.replace(/[a-z0-9]+/g, (part) => parts.get(part) ?? part.charAt(0).toUpperCase() + part.slice(1))
}

/** A time zone in the case of letters that the IANA has for it. */
const named = (zone: typeof TimeZone) =>
  zone.pipe(
    Schema.decode(normalise<string>(nameOf)),
    Schema.annotateEncoded({ description: "The IANA time zone of the hours, which need one." })
  )

const period = { opens: TimeOfDay, closes: EndOfPeriod }
interface Period {
  readonly opens: string
  readonly closes: string
}

const minutesPerDay = 24 * 60
const minutesPerWeek = 7 * minutesPerDay

const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

/** A period on the axis of the minutes, with the path of its item. */
interface Span {
  readonly path: ReadonlyArray<PropertyKey>
  readonly from: number
  readonly until: number
}

/** The minutes of a period of the day that begins at minute `start`; one that closes no later than it opens ends on the next day. */
const spanOf = ({ closes, opens }: Period, start: number, path: Span["path"]): Span => {
  const [from, until] = [minutesOf(opens), minutesOf(closes)]
  return { path, from: start + from, until: start + until + (until <= from ? minutesPerDay : 0) }
}

const problem = (path: Span["path"], code: string, message: string) => ({
  path: [...path],
  issue: new SchemaIssue.InvalidValue({ code, message })
})

const byStart = Order.mapInput(Order.Number, ({ from }: Span) => from)

/** The spans that begin before an earlier one ends; with a `cycle`, the first one follows the last one again. */
const overlaps = (spans: ReadonlyArray<Span>, cycle?: number) => {
  const sorted = Arr.sort(spans, byStart)
  const [first] = sorted
  const again = first === undefined || cycle === undefined ? [] : [{ ...first, from: first.from + cycle }]
  let end = -Infinity
  return [...sorted, ...again].flatMap(({ from, path, until }) => {
    const isLate = from < end
    end = Math.max(end, until)
    return isLate ? [problem(path, "overlap", "The period begins before another one ends")] : []
  })
}

const DayPeriod = Schema.Struct({
  day: int(1, 7).annotate({ description: "1 is Monday, 7 is Sunday.", examples: [1] }),
  ...period
}).annotate({ identifier: "DayPeriod" })
type DayPeriod = typeof DayPeriod.Type

/** The periods of a week in which a branch is open, sorted. */
const OpeningHours = Schema.Array(DayPeriod)
  .annotate({
    description:
      "The local times at which the location opens and closes, sorted. A period that closes no later than it opens ends on the next day."
  })
  .check(
    atMost(70, "periods"),
    Schema.makeFilter<ReadonlyArray<DayPeriod>>((periods) =>
      overlaps(
        periods.map((one, index) => spanOf(one, (one.day - 1) * minutesPerDay, [index])),
        minutesPerWeek
      )
    )
  )
  .pipe(
    Schema.decode(
      normalise<ReadonlyArray<DayPeriod>>((periods) =>
        Arr.sort(
          periods,
          Order.mapInput(Order.String, ({ day, opens }: DayPeriod) => `${day} ${opens}`)
        )
      )
    )
  )

const Period = Schema.Struct(period).annotate({ identifier: "Period" })

const special = {
  date: CalendarDay,
  label: Schema.optionalKey(text(100).pipe(Schema.annotateEncoded({ examples: ["Christmas Day"] })))
}

/** A day with hours of its own. */
const SpecialDay = Schema.Struct({
  ...special,
  periods: Schema.Array(Period).annotate({ description: "Without any, the location is closed on that day." })
}).annotate({ identifier: "SpecialDay" })
type SpecialDay = typeof SpecialDay.Type

const SpecialDayInput = Schema.Struct({
  date: special.date,
  label: Schema.optionalKey(Schema.NullOr(special.label.schema)),
  periods: Schema.optionalKey(Schema.NullOr(SpecialDay.fields.periods))
}).annotate({ identifier: "SpecialDayInput" })
type SpecialDayInput = typeof SpecialDayInput.Type

const specialProblems = (days: ReadonlyArray<SpecialDayInput>) => {
  const seen = new Set<string>()
  const repeated = days.flatMap(({ date }, index) => {
    const isRepeated = seen.has(date)
    seen.add(date)
    return isRepeated ? [problem([index, "date"], "notUnique", "Another item has this date")] : []
  })
  if (repeated.length > 0) return repeated
  const spans = days.flatMap(({ date, periods }, index) =>
    (periods ?? []).map((one, place) =>
      spanOf(one, Date.parse(`${date}T00:00:00.000Z`) / 60_000, [index, "periods", place])
    )
  )
  return overlaps(spans)
}

const description = "The days whose hours replace those of the week, sorted by date."

const SpecialHoursInput = Schema.Array(SpecialDayInput)
  .annotate({ description })
  .check(atMost(400, "days"), Schema.makeFilter<ReadonlyArray<SpecialDayInput>>(specialProblems))
  .pipe(
    Schema.decode(
      normalise<ReadonlyArray<SpecialDayInput>>((days) =>
        Arr.sort(
          days,
          Order.mapInput(Order.String, ({ date }: SpecialDayInput) => date)
        ).map(({ date, label, periods }) => ({
          date,
          ...(label === null || label === undefined ? {} : { label }),
          periods: Arr.sort(
            periods ?? [],
            Order.mapInput(Order.String, ({ opens }: Period) => opens)
          )
        }))
      )
    )
  )

/** The days with hours of their own, as a branch has them. */
const SpecialHours = Schema.Array(SpecialDay).annotate({ description })
export type SpecialHours = ReadonlyArray<SpecialDay>

/** The members of a location that say when it is open; each is absent unless it is set. */
export const openingMembers = {
  status: Schema.optionalKey(
    Schema.Literals(["open", "temporarilyClosed", "permanentlyClosed"]).annotate({
      description: "Absent counts as open."
    })
  ),
  timezone: Schema.optionalKey(named(TimeZone)).pipe(writtenAs(Schema.optionalKey(Schema.NullOr(named(SentTimeZone))))),
  openingHours: Schema.optionalKey(OpeningHours),
  specialHours: Schema.optionalKey(SpecialHours).pipe(writtenAs(Schema.optionalKey(Schema.NullOr(SpecialHoursInput))))
}
