import { countryCodes, isCountryCode } from "../schema/Country.ts"

/** The languages whose names of countries are read. */
const languages =
  "af ar az be bg bn bs ca cs cy da de el en es et eu fa fi fil fr fy ga gl he hi hr hu hy id is it ja ka kk ko lb lt lv " +
  "mk ms mt nb nl nn pl pt rm ro ru sk sl sq sr sv sw th tr uk ur uz vi zh"

/** Names are compared without case, punctuation and the accents of Latin letters. */
const keyOf = (name: string) =>
  name
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036F]/g, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim()

/** The code of each name; `undefined` for a name that has several. */
const build = () => {
  const codes = new Map<string, string | undefined>()
  for (const language of languages.split(" ")) {
    for (const style of ["long", "short"] as const) {
      const names = new Intl.DisplayNames([language], { type: "region", style, fallback: "none" })
      for (const code of countryCodes) {
        const key = keyOf(names.of(code) ?? "")
        codes.set(key, !codes.has(key) || codes.get(key) === code ? code : undefined)
      }
    }
  }
  codes.delete("")
  return codes
}

let codes: ReturnType<typeof build> | undefined

/** The country of a code or of a name in one of the languages; `undefined` when there is none, or several. */
export const codeOf = (text: string): string | undefined => {
  const code = text.trim().toUpperCase()
  return isCountryCode(code) ? code : (codes ??= build()).get(keyOf(text))
}
