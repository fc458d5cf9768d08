import { table, verdict } from "../report.ts"
import { type Kind, kinds } from "./cases.ts"
import type { Measured, Timing } from "./measure.ts"

interface Target {
  readonly atMost: number
  /** Compares the last size with the one before it, instead of with the first. */
  readonly fromLastButOne?: boolean
}

/** The limits of the growth of p50, from the performance design. Filters that match most of a table grow with it. */
const targets: Partial<Readonly<Record<Kind, Target>>> = {
  get: { atMost: 1.3 },
  "first page": { atMost: 1.3 },
  "last page": { atMost: 1.3 },
  "middle page": { atMost: 2 },
  search: { atMost: 2, fromLastButOne: true }
}

/** The limit of p50 for every request, in milliseconds; the statement timeout is 5 s. */
const maxMillis = 2500

const ms = (value: number) => (Number.isNaN(value) ? "-" : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0))

const cell = ({ failure, p50, p99 }: Timing) =>
  failure === undefined ? `${ms(p50)} / ${ms(p99)}` : `**${failure.slice(0, 3)}**`

const growthOf = ({ timings }: Measured, from: number) => timings.at(-1)!.p50 / (timings.at(from)?.p50 ?? NaN)

/** Differences below this many milliseconds are noise. */
const noise = 0.1

/** The comparisons of a case: with its own limit, and with what was measured in turn with it, at the last size. */
const comparisonsOf = ({ asked: { against, atMost }, timings }: Measured) => {
  const last = timings.at(-1)!
  const limit = atMost === undefined ? [] : [{ text: `${ms(last.p50)} <= ${atMost} ms`, reached: last.p50 <= atMost }]
  if (against === undefined || last.against === undefined) return limit
  const time = last.p50 / last.against.p50
  const bytes = last.bytes / last.against.bytes
  return [
    ...limit,
    {
      text: `time x ${time.toFixed(2)} of ${ms(last.against.p50)} ms, <= ${against.time}`,
      reached: time <= against.time || last.p50 - last.against.p50 < noise
    },
    ...(against.bytes === undefined
      ? []
      : [
          {
            text: `bytes x ${bytes.toFixed(2)} of ${Math.round(last.against.bytes)}, <= ${against.bytes}`,
            reached: bytes <= against.bytes
          }
        ])
  ]
}

/** Whether a case reaches its target, and the text for the table. A case without a target reaches it. */
export const evaluate = (measured: Measured): { readonly text: string; readonly reached: boolean } => {
  const { asked, timings } = measured
  const failed = timings.some((timing) => timing.failure !== undefined)
  if (failed) return { text: "**no answer**", reached: false }
  const target = asked.kind === "search" && asked.isBounded !== true ? undefined : targets[asked.kind]
  if (timings.at(-1)!.p50 > maxMillis) return { text: `<= ${maxMillis} ms: ${verdict(false)}`, reached: false }
  const comparisons = comparisonsOf(measured)
  if (comparisons.length > 0) {
    return {
      text: comparisons.map(({ reached, text }) => `${text}: ${verdict(reached)}`).join("; "),
      reached: comparisons.every(({ reached }) => reached)
    }
  }
  if (target === undefined || timings.length < 2) return { text: "-", reached: true }
  const growth = growthOf(measured, target.fromLastButOne === true ? -2 : 0)
  const reached = growth <= target.atMost || timings.at(-1)!.p50 - timings[0]!.p50 < noise
  return {
    text: `x <= ${target.atMost}${target.fromLastButOne === true ? " of the size before" : ""}: ${verdict(reached)}`,
    reached
  }
}

const rowOf = (measured: Measured) => {
  const { asked, timings } = measured
  return [
    asked.name.replaceAll("|", "\\|"),
    String(timings.at(-1)!.hits),
    ...timings.map(cell),
    growthOf(measured, 0).toFixed(2),
    ...(timings.length > 2 ? [growthOf(measured, -2).toFixed(2)] : []),
    evaluate(measured).text
  ]
}

/** The whole report in Markdown: a table for each kind, and the cases that missed their target. */
export const report = (all: ReadonlyArray<Measured>, conditions: string): string => {
  const sizes = all[0]!.timings.map(({ size }) => size)
  const head = [
    "",
    "found",
    ...sizes.map((size) => `${size} (p50 / p99 ms)`),
    "growth",
    ...(sizes.length > 2 ? ["from the size before"] : []),
    "target"
  ]
  const missed = all.filter((measured) => !evaluate(measured).reached)
  const errors = all.flatMap(({ asked, timings }) =>
    timings.flatMap(({ failure, size }) => (failure === undefined ? [] : [`- ${asked.name} at ${size}: ${failure}`]))
  )
  return [
    "# Reads as the tables grow",
    conditions,
    ...kinds.flatMap((kind) => {
      const own = all.filter(({ asked }) => asked.kind === kind)
      return own.length === 0 ? [] : [`## ${kind}`, table(head, own.map(rowOf))]
    }),
    `## ${missed.length} of ${all.length} missed their target`,
    ...(missed.length === 0 ? [] : [table(head, missed.map(rowOf))]),
    ...errors
  ].join("\n\n")
}
