import { createContext, type ReactNode, use, useMemo, useState } from "react"
import { startOf } from "../data/Days.ts"
import { en, type Words } from "./en.ts"
import { namesOf } from "./Names.ts"
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
  readonly speak: (language: string) => void
}

const Context = createContext<Spoken>({ words: en, language: "en", speak: () => undefined })

/** Gives the pages below it their words. */
export const Speaking = ({ children }: { readonly children: ReactNode }) => {
  const [language, setLanguage] = useState(() => setLanguageOfPage(preferred()))
  const spoken = useMemo(
    () => ({
      language,
      words: languages[language],
      speak: (chosen: string) => {
        if (!isLanguage(chosen)) return
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

export const useNames = () => namesOf(useWords())

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
    const date = new Intl.DateTimeFormat(locale, { dateStyle: "medium" })
    const time = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" })
    return {
      /** A day without a time, as `2026-01-31`. */
      day: (value: string) => date.format(startOf(value)),
      number: (value: number) => number.format(value),
      time: (value: string) => (Number.isNaN(Date.parse(value)) ? value : time.format(new Date(value)))
    }
  }, [language])
}
