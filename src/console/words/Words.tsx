import { createContext, type ReactNode, use, useMemo, useState } from "react"
import { en, type Words } from "./en.ts"
import { nl } from "./nl.ts"

const languages = { en, nl }
export type Language = keyof typeof languages

const isLanguage = (text: string | null | undefined): text is Language => text === "en" || text === "nl"

const kept = "waypost-language"

const preferred = (): Language => {
  const chosen = localStorage.getItem(kept)
  if (isLanguage(chosen)) return chosen
  return navigator.languages.map((tag) => tag.slice(0, 2)).find(isLanguage) ?? "en"
}

/** Sets it before anything is drawn: names of records are in the language of the page. */
const setLanguageOfPage = (language: Language): Language => {
  document.documentElement.lang = language
  return language
}

interface Spoken {
  readonly words: Words
  readonly language: Language
  readonly speak: (language: Language) => void
}

const Context = createContext<Spoken>({ words: en, language: "en", speak: () => undefined })

/** Gives the pages below it their words. */
export const Speaking = ({ children }: { readonly children: ReactNode }) => {
  const [language, setLanguage] = useState(() => setLanguageOfPage(preferred()))
  const spoken = useMemo(
    () => ({
      language,
      words: languages[language],
      speak: (chosen: Language) => {
        localStorage.setItem(kept, chosen)
        setLanguage(setLanguageOfPage(chosen))
      }
    }),
    [language]
  )
  return <Context value={spoken}>{children}</Context>
}

export const useSpoken = () => use(Context)

export const useWords = () => use(Context).words

/** "countryCode" is "Country code". */
const readable = (name: string) => {
  const spaced = name.replaceAll(/[-_]/g, " ").replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

/** The names of resources and members for people: from the words, else from the definition. */
export const useNames = () => {
  const words = useWords()
  // A member that names a record is called as the record is.
  const member = (name: string) => words.members[name] ?? readable(name.replace(/Uuids?$/, ""))
  const one = (resource: string) =>
    words.singular[resource] ??
    readable(resource)
      .replace(/ies$/, "y")
      .replace(/s$/, "")
      .replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
  const segmentsOf = (path: string) => path.split(".").filter((segment) => !/^\d+$/.test(segment))
  return {
    member,
    one,
    /** The last member of a path, after the one that it is in: "Address city" reads worse than "City". */
    path: (path: string) => {
      const segments = segmentsOf(path)
      const [last = ""] = segments.slice(-1)
      const within = segments.at(-2)
      return within === undefined || within === "translations" || within === "address" || within === "contact"
        ? member(last)
        : `${member(within)}: ${member(last).toLowerCase()}`
    },
    /** All members of a path. */
    whole: (path: string) => segmentsOf(path).map(member).join(" › "),
    resource: (resource: string) => words.resources[resource] ?? readable(resource)
  }
}

/** The region of the browser decides how English writes dates. */
const localeOf = (language: Language): string =>
  language === "nl" ? "nl-NL" : (navigator.languages.find((tag) => /^en-[A-Z]{2}$/.test(tag)) ?? "en-GB")

/** Numbers and times in the language of the console. */
export const useFormats = () => {
  const { language } = useSpoken()
  return useMemo(() => {
    const locale = localeOf(language)
    // Coordinates have more digits than are shown by default.
    const number = new Intl.NumberFormat(locale, { maximumFractionDigits: 10 })
    const time = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" })
    return {
      number: (value: number) => number.format(value),
      time: (value: string) => (Number.isNaN(Date.parse(value)) ? value : time.format(new Date(value)))
    }
  }, [language])
}
