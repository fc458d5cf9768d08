import { Result } from "effect"
import type { Row } from "../../src/cli/files/Row.ts"

export const languages = ["nl", "en", "de", "fr"] as const
export type Language = (typeof languages)[number]

/** A text in every language of the demo. */
export type Texts = Readonly<Record<Language, string>>

export const texts = (nl: string, en: string, de: string, fr: string): Texts => ({ nl, en, de, fr })

/** A text built from others, language by language. */
export const combined = (f: (language: Language) => string): Texts => texts(f("nl"), f("en"), f("de"), f("fr"))

/** Texts as the API takes them: `translated({ name, description })`. */
export const translated = <Member extends string>(members: Readonly<Record<Member, Texts>>) =>
  languages.map((locale) => ({
    locale,
    ...(Object.fromEntries(Object.entries<Texts>(members).map(([member, all]) => [member, all[locale]])) as Record<
      Member,
      string
    >)
  }))

/** A table with a key and a text in every language on each line: `pie | taart | pie | Kuchen | tarte`. */
export const table = (lines: string) =>
  lines
    .trim()
    .split("\n")
    .map((line) => {
      const [key, nl, en, de, fr, ...rest] = line.split("|").map((cell) => cell.trim())
      return { key: key!, names: texts(nl!, en!, de!, fr!), rest }
    })

/** The first letter in upper case; of a Dutch ij both. */
export const capitals = (names: Texts): Texts =>
  combined((language) =>
    names[language].replace(language === "nl" ? /^(?:ij|.)/u : /^./u, (first) => first.toLocaleUpperCase(language))
  )

/** Records as the rows of an import. */
export const rows = (records: ReadonlyArray<unknown>): ReadonlyArray<Row> =>
  records.map((record, index) => ({ at: { item: index + 1 }, source: record, record: Result.succeed(record) }))

const now = new Date()
export const year = now.getUTCFullYear()

/** The moment that many days from now; in the past when negative. */
export const inDays = (days: number) =>
  new Date(Math.floor(now.getTime() / 3_600_000 + days * 24) * 3_600_000).toISOString()
