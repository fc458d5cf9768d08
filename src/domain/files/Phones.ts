import { isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js"
import { Result } from "effect"
import type { Column } from "./Rows.ts"

/** Why a number cannot be stored. */
export interface Reason {
  readonly path: string
  readonly code: string
  readonly message: string
}

/** The column with the country whose national numbers a row has: that of its main address. */
export const countryIn = (columns: ReadonlyArray<Column>): Column | undefined =>
  columns
    .filter(({ lists, meaning }) => meaning === "country" && lists.length === 0)
    .toSorted((a, b) => a.segments.length - b.segments.length)[0]

const fail = (path: string, code: string, message: string): Result.Result<string, Reason> =>
  Result.fail({ path, code, message })

/**
 * A number as the API should store it. One that begins with + stays as it is typed. One in national form, or with 00, is
 * written in international form, with the country of its row.
 */
export const international = (
  typed: string,
  { country, countryPath, path }: { readonly path: string; readonly country?: string; readonly countryPath?: string }
): Result.Result<string, Reason> => {
  const isInternational = typed.trim().startsWith("+")
  if (!isInternational && country === undefined) {
    const hint = countryPath === undefined ? "" : `, or give the row its ${countryPath}`
    return fail(
      path,
      "noCountry",
      `The phone number is in national form: write it with + and the country's code${hint}`
    )
  }
  const known = country !== undefined && isSupportedCountry(country) ? country : undefined
  const found = parsePhoneNumberFromString(typed, {
    ...(known !== undefined && { defaultCountry: known }),
    extract: false
  })
  if (found === undefined || (!isInternational && !found.isValid())) {
    const form = country === undefined || isInternational ? "" : ` of ${country}`
    return fail(path, "unreadablePhone", `Expected a phone number${form}, which "${typed}" is not`)
  }
  return Result.succeed(isInternational ? typed : found.formatInternational())
}
