import { pick, type Random, randomOf } from "../../../../test/support/Random.ts"

export const languages = ["nl", "en", "de"] as const
export type Language = (typeof languages)[number]

const split = (text: string) => text.trim().split(/\s+/)

/** The words of brand material: topics, kinds of material, and stop words. */
const material: Readonly<
  Record<Language, { readonly topics: string; readonly kinds: string; readonly small: string }>
> = {
  nl: {
    topics: `zomer winkel product merk winter klant keuken tuin feest school kantoor koffie brood fiets straat stad huis
        bloem boek sport water kleur prijs korting kerst paas lente herfst film muziek zorg energie licht beeld team`,
    kinds: `campagne poster folder foto banner logo brochure kaart gids verhaal collectie aanbieding catalogus verpakking
        etiket uitnodiging presentatie advertentie markt dag week plan lijst handleiding actie`,
    small: "de het een en van voor met op in bij naar ook nieuwe onze alle zijn wordt deze"
  },
  en: {
    topics: `summer shop product brand winter customer kitchen garden party school office coffee bread cycling street city
        house flower book sports water colour price discount christmas easter spring autumn film music care energy light`,
    kinds: `campaign poster leaflet photo banner logo brochure card guide story collection offer catalogue packaging label
        invitation presentation advertisement market day week plan list manual promotion printing designed stickers`,
    small: "the a an and of for with on in at to also new our all are is this"
  },
  de: {
    topics: `sommer laden produkt marke winter kunden küche garten fest schul büro kaffee brot fahrrad straßen stadt haus
        blumen buch sport wasser farb preis rabatt weihnachts oster herbst film musik pflege energie licht bild team`,
    kinds: `kampagne plakat prospekt foto banner logo broschüre karte ratgeber geschichte kollektion angebot katalog
        verpackung etikett einladung präsentation anzeige markt tag woche plan liste anleitung aktion`,
    small: "der die das ein und von mit auf in bei zu auch neue unsere alle sind wird diese"
  }
}

const syllables = split(
  "ba be bo da de do fa fe ka ke ko la le lo ma me mo na ne no pa po ra re ro sa se so ta te to va"
)

/** A name that is unique per number. */
const nameOf = (number: number, count: number) => {
  let name = ""
  for (let rest = number, step = 0; step < count; step++, rest = Math.floor(rest / syllables.length)) {
    name += syllables[rest % syllables.length]
  }
  return name
}

/** Names of products and places, identical in every language. */
const names = Array.from({ length: 1500 }, (_, number) => `${nameOf(number * 21, 3)}${"lnrst"[number % 5]}`)

const shuffled = <A>(list: ReadonlyArray<A>, random: Random) =>
  list
    .map((item) => [random(), item] as const)
    .toSorted(([one], [two]) => one - two)
    .map(([, item]) => item)

/** The words of a language, the most common first: a few thousand, mostly compounds and names. */
const vocabulary = (language: Language): ReadonlyArray<string> => {
  const random = randomOf(7)
  const topics = split(material[language].topics)
  const kinds = split(material[language].kinds)
  const compounds = topics.flatMap((topic) => kinds.map((kind) => topic + kind))
  return [...shuffled([...topics, ...kinds], random), ...shuffled([...compounds, ...names], random)]
}

const vocabularies = { nl: vocabulary("nl"), en: vocabulary("en"), de: vocabulary("de") }

export const allWords: ReadonlySet<string> = new Set(Object.values(vocabularies).flat())

/** Topics and kinds: the words that many assets contain. */
export const commonWords = split(`${material.nl.topics} ${material.nl.kinds}`)

/** A random word with the frequency of natural text: its rank times its number of uses is about constant (Zipf-Mandelbrot). */
const word = (language: Language, random: Random) => {
  const list = vocabularies[language]
  const shift = 10
  const rank = shift * ((list.length + shift) / shift) ** random() - shift
  return list[Math.min(list.length - 1, Math.floor(rank))]!
}

const capital = (text: string) => text[0]!.toUpperCase() + text.slice(1)

const times = (count: number, make: () => string) => Array.from({ length: count }, make).join(" ")

/** The name of a project, which some assets share and which resembles no other word. */
export const projectOf = (number: number): string => `${nameOf((number * 40_503) % syllables.length ** 4, 4)}x`

export const title = (language: Language, project: string, random: Random): string =>
  capital(`${times(2 + Math.floor(random() * 2), () => word(language, random))} ${capital(project)}`)

export const description = (language: Language, random: Random): string => {
  const small = split(material[language].small)
  return `${capital(times(8 + Math.floor(random() * 16), () => (random() < 0.35 ? pick(random, small) : word(language, random))))}.`
}

/** Such as `ZomerPoster2026_v2.pdf`. */
export const fileName = (random: Random): string => {
  const language = pick(random, languages)
  const words = [word(language, random), word(language, random)]
  const stem = random() < 0.5 ? words.map(capital).join("") : words.join("-")
  return `${stem}${2020 + Math.floor(random() * 7)}_v${1 + Math.floor(random() * 4)}.${pick(random, ["jpg", "pdf", "png", "mp4"])}`
}
