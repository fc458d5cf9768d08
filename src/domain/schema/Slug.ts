import { Schema } from "effect"
import { matching } from "./Checks.ts"

const maxLength = 150

/** Letters that do not come apart into a base letter and a mark. */
const spelled: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  ł: "l",
  þ: "th",
  ı: "i"
}

/** The name of a record in an address: `spring-campaign-2026`. */
export const Slug = Schema.String.check(
  matching(
    /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
    "lower-case letters, digits and single hyphens between them, such as spring-campaign"
  ),
  Schema.isMaxLength(maxLength, { expected: `at most ${maxLength} characters`, code: "tooLong" })
).annotate({ examples: ["spring-campaign-2026"] })

/** The slug a title suggests, with room left for a number; `undefined` when nothing of the title can be in one. */
export const slugOf = (title: string): string | undefined => {
  const plain = title.toLowerCase().replaceAll(/[ßæœøđðłþı]/g, (letter) => spelled[letter]!)
  const words =
    plain
      .normalize("NFKD")
      .replaceAll(/\p{M}/gu, "")
      .match(/[a-z0-9]+/g) ?? []
  const slug = words.join("-").slice(0, maxLength - 12)
  return slug === "" ? undefined : slug.replace(/-$/, "")
}
