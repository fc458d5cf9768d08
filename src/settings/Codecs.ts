import { Option, Schema, SchemaTransformation } from "effect"
import * as ApiKeySecret from "../domain/keys/ApiKeySecret.ts"
import { commaList } from "../domain/schema/CommaList.ts"
import { normalise } from "../domain/schema/Normalise.ts"
import * as Locale from "../domain/schema/Locale.ts"

// Values of settings, from their text. The annotation `expected` completes "is not …" in the message about another value.

export const text = (pattern: RegExp, expected: string) =>
  Schema.String.check(Schema.isPattern(pattern)).annotate({ expected })
const where = (isValid: (value: string) => boolean, expected: string) =>
  Schema.String.check(Schema.makeFilter(isValid)).annotate({ expected })
const normalized = (normalize: (value: string) => string) => Schema.decode<Schema.Codec<string>>(normalise(normalize))

export const integer = (minimum: number, maximum: number) =>
  text(/^\d{1,15}$/, "").pipe(
    Schema.decodeTo(Schema.Int.check(Schema.isBetween({ minimum, maximum })), SchemaTransformation.numberFromString),
    Schema.annotate({ expected: `a whole number from ${minimum} to ${maximum}` })
  )
export const bytes = integer(1, 999_999_999_999_999).annotate({ expected: "a number of bytes, at least 1" })
/** One of the words, ignoring case. */
export const choice = <const A extends string>(choices: ReadonlyArray<A>) => {
  const find = (value: string) => choices.find((name) => name.toLowerCase() === value.toLowerCase()) ?? value
  return Schema.String.pipe(
    normalized(find),
    Schema.decodeTo(Schema.Literals(choices), SchemaTransformation.passthroughSupertype<A, string>()),
    Schema.annotate({ expected: `one of ${choices.join(", ").toLowerCase()}` })
  )
}
export const boolean = choice(["true", "false"]).pipe(
  Schema.decodeTo(
    Schema.Boolean,
    SchemaTransformation.transform({
      decode: (value) => value === "true",
      encode: (value) => (value ? "true" : "false")
    })
  ),
  Schema.annotate({ expected: "true or false" })
)
export const list = (item: Schema.Codec<string>, expected: string) =>
  Schema.String.pipe(
    Schema.decodeTo(Schema.Array(item), commaList),
    Schema.annotate({ expected: `a comma-separated list of ${expected}` })
  )
export const fraction = text(/^(?:0?\.\d{1,4}|1(?:\.0{1,4})?|0\.\d{1,4})$/, "").pipe(
  Schema.decodeTo(
    Schema.Finite.check(Schema.isBetween({ minimum: 0.01, maximum: 1 })),
    SchemaTransformation.numberFromString
  ),
  Schema.annotate({ expected: "a number from 0.01 to 1" })
)
/** Weights of keys, by the uuid of the key in lower case. */
export const weights = text(/^[\da-f-]{36}=\d{1,3}(?:\.\d{1,3})?(?:,[\da-f-]{36}=\d{1,3}(?:\.\d{1,3})?)*$/i, "").pipe(
  Schema.decodeTo(
    Schema.ReadonlyMap(Schema.String, Schema.Finite.check(Schema.isGreaterThan(0))),
    SchemaTransformation.transform<ReadonlyMap<string, number>, string>({
      decode: (value) =>
        new Map(value.split(",").map((one) => [one.slice(0, 36).toLowerCase(), Number(one.slice(37))] as const)),
      encode: (entries) => Array.from(entries, ([uuid, weight]) => `${uuid}=${weight}`).join(",")
    })
  ),
  Schema.annotate({ expected: "a comma-separated list of uuid=weight, each weight above 0 and below 1000" })
)
const url = (form: RegExp, expected: string) => where((value) => form.test(value) && URL.canParse(value), expected)
const decodes = (text: string) => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
const sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]
const isWhole = (text: string, minimum: number, maximum = Infinity) => {
  const number = Number(text)
  return Number.isInteger(number) && number >= minimum && number <= maximum
}
/** Parameters of which the driver rejects some values. */
const parameters: Readonly<Record<string, (value: string) => boolean>> = {
  sslmode: (value) => sslModes.includes(value),
  port: (value) => isWhole(value, 1, 65_535),
  connect_timeout: (value) => isWhole(value, 0)
}
/** What else a URL of a database has to be; the driver rejects others only when it connects. */
export const databaseUrlRules =
  "special characters in percent-encoding (% as %25), a port from 1 to 65535, connect_timeout in whole seconds " +
  `and sslmode as one of ${sslModes.join(", ")}`
export const databaseUrl = where((value) => {
  const url = /^postgres(?:ql)?:\/\//.test(value) ? URL.parse(value) : null
  return (
    url !== null &&
    url.port !== "0" &&
    [url.username, url.password, url.hostname, url.pathname].every(decodes) &&
    url.searchParams.entries().every(([name, part]) => parameters[name]?.(part) ?? true)
  )
}, `a postgres:// URL with ${databaseUrlRules}`)
/** The beginning of other URLs: a path is appended to it. */
const beginning = (form: RegExp, expected: string) =>
  url(form, expected).pipe(
    normalized((value) => value.replace(/(?<!\/)\/+$/, "")),
    Schema.annotate({ expected })
  )
export const webUrl = beginning(/^https?:\/\/[^?#]*$/, "an absolute http or https URL without query and fragment")
/** A URL that the log names. `fetch` rejects a user in it. */
export const collectorUrl = beginning(
  /^https?:\/\/[^?#@]*$/,
  "an absolute http or https URL without user, query and fragment"
)
/** An origin as browsers send it, or `*`, which is every origin. */
export const origin = where(
  (value) => value === "*" || (/^https?:\/\/[^\s/?#@*]+\/?$/i.test(value) && URL.canParse(value)),
  "an origin or *"
).pipe(normalized((value) => URL.parse(value)?.origin ?? value))
export const locale = where((value) => Option.isSome(Locale.canonical(value)), "a locale").pipe(
  normalized((value) => Option.getOrElse(Locale.canonical(value), () => value))
)
export const mediaType = text(/^[\w.+-]+\/(?:[\w.+-]+|\*)$/, "a media type").pipe(
  normalized((value) => value.toLowerCase())
)
export const extension = text(/^\.?[A-Za-z0-9]{1,16}$/, "a file extension").pipe(
  normalized((value) => value.replace(/^\./, "").toLowerCase())
)
export const apiKey = where(
  (value) => Option.isSome(ApiKeySecret.parse(value)),
  "a key of the form wp_<22 characters>_<43 characters><checksum of 6 characters>"
)
