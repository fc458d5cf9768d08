import { randomOf } from "../Random.ts"
import { type Answered, type Asked, fieldsOf, type Kind, valuesAt } from "./FilterOracle.ts"

export type Samples = ReturnType<typeof make>

/** Seeded texts, times and filters with many edge cases. */
export const make = (seed: number) => {
  const random = randomOf(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const pick = <A>(values: ReadonlyArray<A>): A => values[below(values.length)]!
  const chance = (probability: number) => random() < probability
  const maybe = <A>(make: () => A): A | undefined => (chance(0.6) ? make() : undefined)

  const words = [
    "Bakkerij",
    "De Vries",
    "İstanbul",
    "ISPARTA",
    "ısı",
    "Straße",
    "STRASSE",
    "ẞ",
    "ΟΔΥΣΣΕΥΣ",
    "Οδυσσεύς",
    "σοφος",
    "ΣΑΣ",
    "Cafe\u0301",
    "CAFÉ",
    "naïve",
    "x\u0302y",
    "100%",
    "50%_",
    "a_b",
    "a\\b",
    "\\",
    "Bakker, Utrecht",
    "10:30",
    '"Het Hoekje"',
    "O'Brien",
    "🥐",
    "👩‍🌾 & zonen",
    "ﬁets",
    "Ǆ ǆ",
    "Å",
    "ｗｉｄｅ",
    "東京",
    "'; drop table locations",
    "null",
    "true",
    "$1",
    "{}"
  ]
  const text = () => Array.from({ length: 1 + below(3) }, () => pick(words)).join(pick([" ", "", "-", ", "]))
  const day = 86_400_000
  const instant = () =>
    new Date(Date.UTC(2024, 1, 27) + below(6) * day + pick([0, 0, 1, day - 1, below(day)])).toISOString()

  const textualOperators = ["equals", "contains", "startsWith", "endsWith"]
  const orderedOperators = ["equals", "gt", "gte", "lt", "lte"]
  const operators: Readonly<Record<Kind, ReadonlyArray<string>>> = {
    string: textualOperators,
    enum: textualOperators,
    uuid: textualOperators,
    number: orderedOperators,
    date: orderedOperators,
    day: [...orderedOperators, "contains", "startsWith", "endsWith"],
    boolean: ["equals"]
  }
  const everyKind = ["in", "exists"]
  const edgeCases = [
    "%",
    "_",
    "\\",
    "\\\\",
    "%%",
    '"',
    ",",
    ":",
    "",
    " ",
    "İ",
    "i̇",
    "ı",
    "ς",
    "Σ",
    "\u0301",
    "e\u0301",
    "🥐",
    "\n",
    "'",
    "''",
    "--",
    "\u0001",
    "null",
    "ss",
    "ﬁ",
    "NaN"
  ]

  const anyCase = (value: string) =>
    Array.from(value, (letter) => pick([letter, letter.toUpperCase(), letter.toLowerCase()])).join("")
  const substring = (value: string) => {
    const points = Array.from(value)
    const start = below(points.length)
    return points.slice(start, start + 1 + below(points.length - start)).join("")
  }

  const textual = (operator: string, taken: string): string => {
    if (chance(0.08)) return pick(edgeCases)
    if (operator === "equals")
      return chance(0.8) ? taken : pick([anyCase(taken), taken.normalize("NFD"), substring(taken)])
    const points = Array.from(taken)
    const part = {
      startsWith: points.slice(0, 1 + below(points.length)).join(""),
      endsWith: points.slice(below(points.length)).join("")
    }[operator as "endsWith"]
    return anyCase(chance(0.85) ? (part ?? substring(taken)) : substring(taken))
  }

  const numeric = (taken: number) => {
    const near = taken + pick([0, 0, 1e-7, -1e-7, 1])
    return pick([String(near), near.toFixed(9), near.toExponential(9), "0", "-0", "1e300", "-1E+2"])
  }
  const dated = (taken: string) => {
    if (chance(0.05)) return pick(["0001-01-01", "9999-12-31", "9999-12-31T23:59:59.999Z"])
    const moved = new Date(Date.parse(taken) + pick([0, 0, 1, -1, day, -day])).toISOString()
    return pick([moved, moved.slice(0, 10)])
  }
  const valueFor = (kind: Kind, operator: string, taken: string): string => {
    if (kind === "number") return numeric(Number(taken))
    if (kind === "date") return dated(taken)
    if (kind === "day") return [...orderedOperators, "in"].includes(operator) ? dated(taken) : textual(operator, taken)
    if (kind === "boolean") return pick(["true", "false"])
    if (operator !== "equals" || kind === "string") return textual(operator, taken)
    // `equals` on an enum takes one of its values unchanged; a uuid may be written in any case.
    return kind === "enum" ? taken : anyCase(chance(0.9) ? taken : "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30")
  }

  /** Filters on the fields of records as the API returns them. */
  const filters = (records: ReadonlyArray<Answered>, without: ReadonlyArray<string> = []) => {
    const fields = fieldsOf(records).filter(({ field }) => !without.includes(field))
    const valuesOf = (some: ReadonlyArray<Answered>, field: string) =>
      some.flatMap((record) => valuesAt(record, field.split(".")))
    /** A condition whose value usually comes from one of the records. */
    const condition = (about: ReadonlyArray<Answered>): Asked => {
      const { field, kind } = pick(fields)
      const own = valuesOf(about, field)
      const taken = pick(own.length > 0 ? own : valuesOf(records, field))
      const operator = pick([...operators[kind], ...everyKind])
      const not = chance(0.2)
      if (operator === "exists") {
        const path = field.split(".")
        const about = chance(0.5) ? path.slice(0, 1 + below(path.length)).join(".") : field
        return { field: about, kind, operator, value: pick(["true", "false"]), not }
      }
      if (operator !== "in") return { field, kind, operator, value: valueFor(kind, operator, String(taken)), not }
      const values = [taken, ...Array.from({ length: below(4) }, () => pick(valuesOf(records, field)))].map((one) =>
        valueFor(kind, "equals", String(one))
      )
      return { field, kind, operator, value: "", values, not }
    }
    /** One to three conditions, usually about the same record, so that some record matches all of them. */
    const conditions = (): ReadonlyArray<Asked> => {
      const about = chance(0.7) ? [pick(records)] : records
      return Array.from({ length: pick([1, 1, 2, 3]) }, () => condition(about))
    }
    return { fields, conditions }
  }
  return { random, below, pick, chance, maybe, text, instant, filters }
}
