import { ByteSize, Clock, Duration, Effect, Schedule, Stdio, Stream } from "effect"

/** The amount done, and its fraction of the total when the total is known. */
export interface State {
  readonly done: number
  readonly fraction: number | undefined
  /** The number of rows, when it is known. */
  readonly total?: number | undefined
  /** Default: rows. */
  readonly unit?: "rows" | "bytes"
}

/** How much is done while work runs, and the total once it is known. */
export interface Count {
  done: number
  total: number | undefined
}

export const fractionOf = ({ done, total }: Readonly<Count>): number | undefined => (total ? done / total : undefined)

const width = 24

const clock = (seconds: number) => {
  const whole = Math.ceil(seconds)
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`
}

/** A number with separators: `20,000`. */
export const count = (value: number): string => Math.round(value).toLocaleString("en")

/** A number of bytes with its unit: `21.5 MB`. */
export const size = (bytes: number): string =>
  ByteSize.format(ByteSize.bytes(Math.round(bytes)), { system: "decimal", precision: 1 })

/** How many rows are done: `415 of 5,000 rows`. */
export const rowsOf = ({ done, total }: Pick<State, "done" | "total">): string =>
  total === undefined ? `${count(done)} rows` : `${count(done)} of ${count(total)} rows`

/** One line: a bar when the total is known, the amount, the rate and the time left. */
export const line = (state: State, seconds: number): string => {
  const speed = state.done / Math.max(seconds, 0.001)
  const rate = state.unit === "bytes" ? `${size(state.done)}  ${size(speed)}/s` : `${rowsOf(state)}  ${count(speed)}/s`
  if (state.fraction === undefined) return rate
  const fraction = Math.min(Math.max(state.fraction, 0), 1)
  const filled = Math.round(fraction * width)
  const left = fraction > 0 ? `  ${clock((seconds / fraction) * (1 - fraction))} left` : ""
  return `[${"#".repeat(filled)}${"-".repeat(width - filled)}] ${String(Math.floor(fraction * 100)).padStart(3)}%  ${rate}${left}`
}

/** Shows the progress of an effect on a terminal; the line is erased at the end. */
export const show =
  (state: () => State) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Stdio.Stdio> =>
    Effect.gen(function* () {
      const stdio = yield* Stdio.Stdio
      if (!(yield* stdio.stderrIsTerminal)) return yield* effect
      const start = yield* Clock.currentTimeMillis
      const print = (text: string) => Effect.ignore(Stream.run(Stream.succeed(`\r\u001B[2K${text}`), stdio.stderr()))
      const draw = Effect.flatMap(Clock.currentTimeMillis, (now) => print(line(state(), (now - start) / 1000)))
      return yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Effect.addFinalizer(() => print(""))
          yield* Effect.forkScoped(Effect.repeat(draw, Schedule.spaced("200 millis")))
          return yield* effect
        })
      )
    })

/** The result of an effect and its duration in seconds. */
export const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.timed(effect), ([duration, value]) => ({
    value,
    seconds: Math.max(Duration.toSeconds(duration), 0.001)
  }))
