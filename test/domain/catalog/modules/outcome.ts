import { Exit, Schema } from "effect"
import type { ModuleName } from "../../../../src/domain/catalog/ModuleName.ts"
import { complete } from "../../../../src/domain/write/Completion.ts"
import type { Lookup } from "../../../../src/domain/write/References.ts"
import { moduleOf } from "../../../../src/domain/catalog/ProductModule.ts"
import { describe } from "../../../../src/domain/write/Issues.ts"

type Body = Readonly<Record<string, unknown>>

export const uuid = (last: number) => `0198d9e4-7d0c-7b1e-8b54-${String(last).padStart(12, "0")}`
export const now = "2026-11-21T07:00:00.000Z"

/** Text of the given length. */
export const long = (length: number) => "a".repeat(length)
/** A list of the given length. */
export const many = <A>(count: number, one: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, i) => one(i))

const everything: Lookup = () => ({})

/** The stored settings of a body, or the path and code of every problem. */
export const outcome = (name: ModuleName, sent: unknown, lookup = everything): unknown => {
  const module = moduleOf(name)
  const options = { errors: "all", onExcessProperty: "error", reportInput: true } as const
  const exit = Schema.decodeUnknownExit(module.update, options)(sent)
  if (Exit.isFailure(exit)) {
    const { reasons } = exit.cause
    const issues = reasons.flatMap((reason) => (reason._tag === "Fail" ? describe(reason.error.issue, "body") : []))
    return issues.map(({ code, path }) => `${path} ${code}`)
  }
  let made = 0
  const json = Schema.encodeUnknownSync(module.update)(exit.value) as Body
  const { problems, settings } = complete(module, json, { uuid: () => uuid(++made), now, locale: "en" })
  const all = [...problems, ...module.rules(settings, lookup)]
  return all.length === 0 ? settings : all.map(({ code, path }) => `${path} ${code}`)
}

/** Actual and expected values, as arguments of deepStrictEqual. */
type Comparison = [actual: ReadonlyArray<unknown>, expected: ReadonlyArray<unknown>]

/** Bodies and their stored settings, merged with those of `bare`; a body without an expectation is stored unchanged. */
export const stores = (
  name: ModuleName,
  bare: Body,
  ...bodies: ReadonlyArray<Body | readonly [sent: Body, stored: Body]>
): Comparison => {
  const pairs = bodies.map((body) => (Array.isArray(body) ? body : [body, body]) as [sent: Body, stored: Body])
  return [
    pairs.map(([sent]) => outcome(name, { ...bare, ...sent })),
    pairs.map(([, stored]) => ({ ...(outcome(name, bare) as Body), ...stored }))
  ]
}

/** Invalid bodies, with the path and code of each problem. */
export const rejects = (
  name: ModuleName,
  bare: Body,
  ...cases: ReadonlyArray<readonly [sent: Body, ...problems: ReadonlyArray<string>]>
): Comparison => [
  cases.map(([sent]) => [sent, outcome(name, { ...bare, ...sent })]),
  cases.map(([sent, ...all]) => [sent, all])
]

/** A member accepts integers from `min` to `max` and rejects other values. */
export const acceptsInt = (
  name: ModuleName,
  bare: Body,
  member: string,
  [min, max]: readonly [number, number],
  around: (value: unknown) => Body = (value) => ({ [member]: value })
): Comparison => {
  const problemOf = (value: unknown) => {
    const problems = outcome(name, { ...bare, ...around(value) })
    const last = Array.isArray(problems)
      ? (problems as ReadonlyArray<string>).map((problem) => problem.split(/[. ]/))
      : []
    return [value, ...last.flatMap((parts) => parts.slice(-2))]
  }
  return [
    [min, max, min - 1, max + 1, min + 0.5, String(min), true].map(problemOf),
    [
      ...[min, max].map((value) => [value]),
      ...[min - 1, max + 1].map((value) => [value, member, "outOfRange"]),
      ...[min + 0.5, String(min), true].map((value) => [value, member, "wrongType"])
    ]
  ]
}
