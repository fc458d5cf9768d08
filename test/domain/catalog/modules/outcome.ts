import { Exit, Schema } from "effect"
import type { ModuleName } from "../../../../src/domain/catalog/ModuleName.ts"
import { complete } from "../../../../src/domain/catalog/ModuleSettings.ts"
import type { Lookup } from "../../../../src/domain/catalog/ModuleShape.ts"
import { moduleOf } from "../../../../src/domain/catalog/ProductModule.ts"
import { describe } from "../../../../src/domain/write/Issues.ts"

type Body = Readonly<Record<string, unknown>>

export const uuid = (last: number) => `0198d9e4-7d0c-7b1e-8b54-${String(last).padStart(12, "0")}`
export const now = "2026-11-21T07:00:00.000Z"

/** Text of a length, and a list of so many. */
export const long = (length: number) => "a".repeat(length)
export const many = <A>(count: number, one: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, i) => one(i))

const everything: Lookup = () => ({})

/** What is stored of a body, or the paths and codes of everything that is wrong with it. */
export const outcome = (name: ModuleName, sent: unknown, look = everything): unknown => {
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
  const { problems, settings } = complete(module, json, { uuid: () => uuid(++made), now, language: "en" })
  const all = [...problems, ...module.rules(settings, look)]
  return all.length === 0 ? settings : all.map(({ code, path }) => `${path} ${code}`)
}

/** What was made, and what should have been: equal when all is well. */
type Comparison = [actual: ReadonlyArray<unknown>, expected: ReadonlyArray<unknown>]

/** Bodies, and what of each is stored beside what `bare` stores; a body that is only listed is stored as it is. */
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

/** Bodies that are refused, and where and why. */
export const refuses = (
  name: ModuleName,
  bare: Body,
  ...cases: ReadonlyArray<readonly [sent: Body, ...problems: ReadonlyArray<string>]>
): Comparison => [
  cases.map(([sent]) => [sent, outcome(name, { ...bare, ...sent })]),
  cases.map(([sent, ...all]) => [sent, all])
]

/** Whole numbers from `least` to `most` are taken for a member, and nothing else. */
export const takesInt = (
  name: ModuleName,
  bare: Body,
  member: string,
  [least, most]: readonly [number, number],
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
    [least, most, least - 1, most + 1, least + 0.5, String(least), true].map(problemOf),
    [
      ...[least, most].map((value) => [value]),
      ...[least - 1, most + 1].map((value) => [value, member, "outOfRange"]),
      ...[least + 0.5, String(least), true].map((value) => [value, member, "wrongType"])
    ]
  ]
}
