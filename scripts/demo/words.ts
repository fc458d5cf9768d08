/** The languages in which the demo speaks of its products and posts. */
export const languages = ["nl", "en", "de", "fr"] as const
export type Language = (typeof languages)[number]

/** A text in every language of the demo. */
export type Texts = Readonly<Record<Language, string>>

export const texts = (nl: string, en: string, de: string, fr: string): Texts => ({ nl, en, de, fr })

/** A text made of others, language by language. */
export const combined = (f: (language: Language) => string): Texts => texts(f("nl"), f("en"), f("de"), f("fr"))

/** Texts as the API takes them: `translated({ name, description })`. */
export const translated = (members: Readonly<Record<string, Texts>>) =>
  languages.map((locale) => ({
    locale,
    ...Object.fromEntries(Object.entries(members).map(([member, all]) => [member, all[locale]]))
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

export const upperFirst = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
