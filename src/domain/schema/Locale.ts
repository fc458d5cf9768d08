import { Context, Effect, Option, Predicate, Schema, String as Str } from "effect"
import { ApiError } from "../write/ApiError.ts"
import { shown } from "../write/Excerpts.ts"
import { documented } from "./Checks.ts"
import { isCountryCode } from "./Country.ts"
import { remembered } from "../write/Remembered.ts"

/** The locale is not well-formed, not known, or not in the configured list. */
export class InvalidLocaleError extends ApiError<InvalidLocaleError>()(
  "InvalidLocaleError",
  { message: Schema.String, locale: Schema.String, supported: Schema.optionalKey(Schema.Array(Schema.String)) },
  { httpApiStatus: 400 }
) {}

/**
 * BCP 47 `ll`, `ll-RR` or `ll-Ssss-RR`; `_` is accepted for `-`. Any text decodes: whether it is a valid locale is
 * `Locales.check`'s to say, which depends on the configuration and has an error of its own.
 */
export const Locale = Schema.String.check(
  documented({ pattern: "^[A-Za-z]{2,3}(?:[-_][A-Za-z]{4})?(?:[-_](?:[A-Za-z]{2}|[0-9]{3}))?$" })
).annotate({ examples: ["nl-NL"], description: "BCP 47: ll, ll-RR or ll-Ssss-RR" })

const form = /^(?!und)([a-z]{2,3})(?:-([a-z]{4}))?(?:-([a-z]{2}|[0-9]{3}))?$/i
const languages = new Intl.DisplayNames("en", { type: "language", fallback: "none" })
const regions = new Intl.DisplayNames("en", { type: "region", fallback: "none" })

/** Whether BCP 47 prefers no other tag. */
const isPreferred = (tag: string) => new Intl.Locale(tag).baseName === tag

/** Asking `Intl` takes as long as storing a record; what was asked is known from then on. There are some 20,000 subtags in all. */
const subtags = (ask: (subtag: string) => boolean) => remembered(20_000, ask)

const isLanguage = subtags((language) => isPreferred(language) && languages.of(language) !== undefined)

/** A country, or one of the groups of countries that have a number; 999 and ZZ stand for "unknown". */
const isKnownRegion = (region: string) =>
  isCountryCode(region) || (/^(?!999)\d{3}$/.test(region) && regions.of(region) !== undefined)

const isRegion = subtags((region) => isPreferred(`und-${region}`) && isKnownRegion(region))

/** There are too many to remember, and few that take long. */
const isScript = (script: string) => isPreferred(`und-${script}`)

const hyphenated = (locale: string) => locale.trim().replaceAll("_", "-")

/**
 * The locale in its normal case (`nl_nl` becomes `nl-NL`), if its language and region are known. Only the case is
 * normalised: a tag for which BCP 47 prefers another, such as `eng` for `en`, is not valid.
 */
export const canonical = (locale: string): Option.Option<string> =>
  locale.length > 35 ? canonicalOf(locale) : recent(locale)

/** BCP 47 prefers another tag of this form only for one of its subtags, which are asked for one by one. */
const canonicalOf = (locale: string): Option.Option<string> => {
  const found = form.exec(hyphenated(locale))
  if (found === null) return Option.none()
  const [language, script, region] = [
    found[1]!.toLowerCase(),
    found[2] && Str.capitalize(found[2].toLowerCase()),
    found[3]?.toUpperCase()
  ]
  const isValid =
    isLanguage(language) && (script === undefined || isScript(script)) && (region === undefined || isRegion(region))
  return isValid ? Option.some([language, script, region].filter(Predicate.isNotUndefined).join("-")) : Option.none()
}

/** More than there are locales in use; a client that makes them up fills no memory. */
const recent = remembered(1000, canonicalOf)

/** The tag that BCP 47 prefers for the locale. */
const preferredOf = (locale: string): Option.Option<string> => {
  const tag = hyphenated(locale)
  if (!form.test(tag)) return Option.none()
  const { baseName, language, region } = new Intl.Locale(tag)
  const isKnown = languages.of(language) !== undefined && (region === undefined || isKnownRegion(region))
  return isKnown ? Option.some(baseName) : Option.none()
}

/** The locales this installation accepts; every known one unless a list is configured. */
export class Locales extends Context.Service<
  Locales,
  {
    /** The canonical form of a valid locale. */
    check(locale: string): Effect.Effect<string, InvalidLocaleError>
    /** The canonical form of a valid language, in two letters. */
    checkLanguage(code: string): Effect.Effect<string, InvalidLocaleError>
    /** The language of users that are created without one. */
    readonly defaultLanguage: string
    /** The locale of text that is sent without one: the first of the list. */
    readonly defaultLocale: string
  }
>()("waypost/domain/schema/Locale/Locales") {}

/** The preferred tag of one that is not valid. */
const suggestionOf = (locale: string) =>
  Option.match(Option.isNone(canonical(locale)) ? preferredOf(locale) : Option.none(), {
    onNone: () => "",
    onSome: (preferred) => `; did you mean ${preferred}?`
  })

const invalid = (locale: string, supported: ReadonlyArray<string> | undefined, kind: string) =>
  new InvalidLocaleError({
    locale: shown(locale),
    message:
      supported === undefined
        ? `"${shown(locale)}" is not a known ${kind}${suggestionOf(locale)}`
        : `"${shown(locale)}" is not one of the supported locales: ${supported.join(", ")}`,
    ...(supported === undefined ? {} : { supported })
  })

/** `supported` limits what is accepted; `undefined` accepts every known locale. */
export const make = (supported: ReadonlyArray<string> | undefined): Locales["Service"] => {
  const languages = supported?.map((locale) => locale.split("-")[0])
  const defaultLanguage = languages?.find((language) => language?.length === 2) ?? "en"
  return {
    defaultLanguage,
    defaultLocale: supported?.[0] ?? "en",
    check: (locale) =>
      Effect.fromOption(
        Option.filter(canonical(locale), (name) => supported?.includes(name) ?? true),
        () => invalid(locale, supported, "locale; use a BCP 47 tag such as nl or nl-NL")
      ),
    checkLanguage: (code) =>
      Effect.fromOption(
        // Three letters would be taken for the two they stand for.
        Option.filter(
          canonical(code),
          (name) =>
            name === code && name.length === 2 && (name === defaultLanguage || (languages?.includes(name) ?? true))
        ),
        () => invalid(code, supported, "language; use an ISO 639-1 code of two letters such as nl")
      )
  }
}
