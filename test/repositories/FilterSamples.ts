import { type Answered, type Asked, kindOf, valuesAt } from "./FilterOracle.ts"

/** mulberry32: small, seeded, the same everywhere. */
const generator = (from: number) => {
  let state = from
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
/** Locations and filters full of what goes wrong, the same for the same seed. */
export const make = (seed: number) => {
  const random = generator(seed)
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
  const address = () => ({
    addressLine1: maybe(text),
    addressLine2: maybe(text),
    attentionOf: maybe(text),
    city: maybe(text),
    zone: maybe(text),
    countryCode: maybe(() => pick(["NL", "nl", "DE", "TR", "GR"])),
    zipcode: maybe(() => pick(["3511 AB", "3511", "İ_%", "ab\\c"]))
  })
  const coordinate = (bound: number) =>
    pick([
      0,
      bound,
      -bound,
      Math.round((random() * 2 - 1) * bound * 10) / 10,
      Number(((random() * 2 - 1) * bound).toFixed(7))
    ])
  const postalCodes = Array.from({ length: 12 }, () => `${1000 + below(9000)} ${pick(["AB", "ab", "Zx", "-1"])}`)

  const location = (index: number) => ({
    name: text(),
    identifier: `${pick(["UTR", "utr", "ΣΑΣ", "a_%", "b\\", "c,d", "e:f"])}-${index}`,
    postalCodes: Array.from({ length: below(4) }, () => pick(postalCodes)),
    address: maybe(address),
    legal: maybe(() => ({ address: maybe(address) })),
    invoice: maybe(() => ({
      name: maybe(text),
      email: maybe(() => `${pick(["Info", "info", "jörg"])}@${pick(["Example.com", "exämple.de"])}`),
      address: maybe(address)
    })),
    contact: maybe(() => ({
      email: maybe(() => `${pick(["a", "B"])}+x%@example.com`),
      website: maybe(() => pick(["https://example.com/a_b?c=%20", "http://EXAMPLE.com/"])),
      phone: maybe(() => pick(["+31 30 123 45 67", "(030) 1.2-3/4"])),
      firstName: maybe(text)
    })),
    coordinates: maybe(() => ({ latitude: coordinate(90), longitude: coordinate(180) })),
    locale: maybe(() => pick(["nl-NL", "tr", "sr-Latn-RS"])),
    other: maybe(() => ({
      extraDna1: maybe(text),
      extraDna3: maybe(() => `${text()}\n\t${text()}`),
      extraDna10: maybe(text)
    }))
  })

  const day = 86_400_000
  const instant = () =>
    new Date(Date.UTC(2024, 1, 27) + below(6) * day + pick([0, 0, 1, day - 1, below(day)])).toISOString()

  const operators = {
    string: ["equals", "contains", "startsWith", "endsWith"],
    number: ["equals", "gt", "gte", "lt", "lte"]
  }
  const fields = [
    "uuid",
    "name",
    "identifier",
    "postalCodes",
    "locale",
    "address.city",
    "address.countryCode",
    "address.zipcode",
    "address.addressLine1",
    "legal.address.city",
    "invoice.name",
    "invoice.email",
    "invoice.address.zone",
    "contact.email",
    "contact.website",
    "contact.phone",
    "contact.mobile",
    "contact.firstName",
    "coordinates.latitude",
    "coordinates.longitude",
    "other.extraDna1",
    "other.extraDna3",
    "other.extraDna10",
    "createdAt",
    "editedAt"
  ]
  const nasty = [
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
    if (chance(0.08)) return pick(nasty)
    if (operator === "equals")
      return chance(0.8) ? taken : pick([anyCase(taken), taken.normalize("NFD"), substring(taken)])
    const points = Array.from(taken)
    const part = {
      startsWith: points.slice(0, 1 + below(points.length)).join(""),
      endsWith: points.slice(below(points.length)).join("")
    }[operator as "endsWith"]
    return anyCase(chance(0.85) ? (part ?? substring(taken)) : substring(taken))
  }

  /** A condition whose value is mostly taken from one of the records. */
  const condition = (about: ReadonlyArray<Answered>, all: ReadonlyArray<Answered>): Asked => {
    const field = pick(fields)
    const kind = kindOf(field)
    const valuesOf = (records: ReadonlyArray<Answered>) =>
      records.flatMap((record) => valuesAt(record, field.split(".")))
    const own = valuesOf(about)
    const taken = pick(own.length > 0 ? own : [...valuesOf(all), "112"])
    const operator = pick(kind === "string" || kind === "uuid" ? operators.string : operators.number)
    if (kind === "number") {
      const near = Number(taken) + pick([0, 0, 1e-7, -1e-7, 1])
      return {
        field,
        operator,
        value: pick([String(near), near.toFixed(9), near.toExponential(9), "0", "-0", "1e300", "-1E+2"])
      }
    }
    if (kind === "date") {
      const moved = new Date(Date.parse(String(taken)) + pick([0, 0, 1, -1, day, -day])).toISOString()
      return {
        field,
        operator,
        value: chance(0.05)
          ? pick(["0001-01-01", "9999-12-31", "9999-12-31T23:59:59.999Z"])
          : pick([moved, moved.slice(0, 10)])
      }
    }
    if (kind === "uuid" && operator === "equals")
      return { field, operator, value: anyCase(chance(0.9) ? String(taken) : "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30") }
    return { field, operator, value: textual(operator, String(taken)) }
  }

  /** One to three conditions, mostly about the same record, so that some record holds them all. */
  const conditions = (records: ReadonlyArray<Answered>): ReadonlyArray<Asked> => {
    const about = chance(0.7) ? [pick(records)] : records
    return Array.from({ length: pick([1, 1, 2, 3]) }, () => condition(about, records))
  }
  return { location, instant, conditions, random }
}
