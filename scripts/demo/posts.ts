import type { Row } from "../../src/cli/transfer/Row.ts"
import { flagships, largest, managerOf, ofCountry, rows } from "./brand.ts"
import { seasons, subjects } from "./catalogue.ts"
import type { Pictures } from "./products.ts"
import { inDays } from "./time.ts"
import { combined, type Language, languages, table, type Texts, texts, translated, upperFirst } from "./words.ts"

const cities = largest(24)
const authors = cities.slice(0, 8).map(managerOf)

/** Notices to everyone, and how many days ago they were or will be published. */
const notices = table(`
  prices | Nieuwe prijzen voor drukwerk | New prices for print | Neue Preise für Drucksachen | Nouveaux prix d’impression | -40
  holidays | Levering rond de feestdagen | Deliveries around the holidays | Lieferung an den Feiertagen | Livraisons pendant les fêtes | 6
  warehouse | Tweede magazijn in Keulen | Second warehouse in Cologne | Zweites Lager in Köln | Deuxième entrepôt à Cologne | -75
  maintenance | Onderhoud in de nacht van zondag | Maintenance on Sunday night | Wartung in der Nacht zum Montag | Maintenance dimanche soir | 3
  paper | Alles op gerecycled papier | Everything on recycled paper | Alles auf Recyclingpapier | Tout sur papier recyclé | -120
  uniforms | De nieuwe bedrijfskleding | The new uniforms | Die neue Arbeitskleidung | Les nouveaux uniformes | -20
  allergens | Allergenen op elke prijskaart | Allergens on every price card | Allergene auf jedem Preisschild | Allergènes sur chaque étiquette | -9
  summer-hours | Zomertijden van de klantenservice | Summer hours of our service desk | Sommerzeiten des Service | Horaires d’été du service | -200
  survey | Wat vindt u van het portaal? | What do you think of the portal? | Wie gefällt Ihnen das Portal? | Que pensez-vous du portail ? | 12
  flagship | Vernieuwde hoofdwinkels | Renewed flagship stores | Erneuerte Flagship-Filialen | Nouveaux magasins phares | -2
  waste | Minder verspilling, een kwartaal later | Less waste, a quarter later | Weniger Abfall nach einem Quartal | Moins de gaspillage | -30
  wifi | Wifi voor gasten | Wi-Fi for guests | WLAN für Gäste | Wi-Fi pour les clients | 20
`)

/** Pages that stay. */
const pages = table(`
  contact | Contact | Contact | Kontakt | Contact
  ordering | Hoe bestellen werkt | How ordering works | So bestellen Sie | Comment commander
  house-style | Huisstijl | House style | Gestaltungsrichtlinien | Charte graphique
  hygiene | Hygiëne in de winkel | Hygiene in the branch | Hygiene in der Filiale | Hygiène en magasin
  photos | Foto’s maken | Taking pictures | Fotos machen | Prendre des photos
  social-media | Richtlijnen voor social media | Social media guidelines | Social-Media-Regeln | Règles des réseaux sociaux
  privacy | Privacy | Privacy | Datenschutz | Confidentialité
  accessibility | Toegankelijkheid | Accessibility | Barrierefreiheit | Accessibilité
`)

const closing = texts(
  "Vragen? Mail de klantenservice.",
  "Questions? Mail the service desk.",
  "Fragen? Schreiben Sie dem Service.",
  "Des questions ? Écrivez au service."
)
const list = {
  nl: ["Kijk in het portaal", "Bestel op tijd", "Vertel het uw team"],
  en: ["Look in the portal", "Order in time", "Tell your team"],
  de: ["Ins Portal schauen", "Rechtzeitig bestellen", "Dem Team erzählen"],
  fr: ["Consultez le portail", "Commandez à temps", "Prévenez votre équipe"]
} satisfies Record<Language, ReadonlyArray<string>>

const bodyOf = (title: Texts): Texts =>
  combined(
    (language) =>
      `<h2>${title[language]}</h2><ul>${list[language].map((item) => `<li>${item}</li>`).join("")}</ul><p>${closing[language]}</p>`
  )

/** Published in the past, scheduled in the future. */
const timed = (days: number) => ({ status: days > 0 ? "scheduled" : "published", publishAt: inDays(days) })

const everyone = { authorizationType: "everyone" }
const groups = (...names: ReadonlyArray<string>) => ({ authorizationType: "groups", groups: names })
const countriesOf: Readonly<Record<Language, ReadonlyArray<string>>> = {
  nl: ["NL", "BE"],
  en: ["GB", "IE"],
  de: ["DE", "AT", "CH"],
  fr: ["FR", "BE", "CH"]
}

const post = (slug: string, type: string, title: Texts, index: number, rest: object) => ({
  slug,
  type,
  translations: translated({
    title: combined((language) => upperFirst(title[language])),
    body: bodyOf(title),
    excerpt: closing
  }),
  author: authors[index % authors.length],
  audience: everyone,
  ...rest
})

const notes = () =>
  notices.map(({ key, names, rest: [days] }, index) =>
    post(`notice-${key}`, "announcement", names, index, {
      ...timed(Number(days)),
      ...(Number(days) < -150 ? { status: "archived" } : {}),
      pinned: key === "holidays" || key === "allergens",
      categories: ["organisation"],
      audience: key === "flagship" ? groups(flagships) : everyone,
      expireAt: inDays(Number(days) + (Number(days) < -150 ? 90 : 400))
    })
  )

const stays = () =>
  pages.map(({ key, names }, index) =>
    post(key, "page", names, index, { ...timed(-300 + index), pinned: index < 2, tags: ["handbook"] })
  )

const seasonTitle = (season: Texts) =>
  combined(
    (language) =>
      ({
        nl: `Het campagnepakket voor ${season.nl} is er`,
        en: `The campaign kit for ${season.en} is here`,
        de: `Das Kampagnenpaket für ${season.de} ist da`,
        fr: `Le kit de campagne ${season.fr} est arrivé`
      })[language]
  )

const campaigns = (pictures: Pictures) =>
  seasons.flatMap(({ key, names }, index) => [
    post(`campaign-${key}`, "news", seasonTitle(names), index, {
      ...timed(index * 9 - 30),
      categories: ["campaigns"],
      tags: [key],
      callToAction: { type: "order", url: `https://korenbloem.example/portal/${key}` }
    }),
    post(`social-${key}`, "social", names, index + 3, {
      ...(index % 4 === 3 ? { status: "draft" } : timed(index * 9 - 28)),
      tags: [key],
      audience: { authorizationType: "locations", locations: cities.slice(index, index + 6) },
      ...covered(pictures, subjects[index]!.names.en)
    })
  ])

const covered = (pictures: Pictures, shown: string) => {
  const coverAssetUuid = pictures.get(shown)
  return coverAssetUuid === undefined ? {} : { coverAssetUuid }
}

const newsTitle = (subject: Texts) =>
  combined(
    (language) =>
      ({
        nl: `Nieuw recept: ${subject.nl}`,
        en: `New recipe: ${subject.en}`,
        de: `Neues Rezept: ${subject.de}`,
        fr: `Nouvelle recette : ${subject.fr}`
      })[language]
  )

/** News of one language is for the countries that speak it; the rest is for everyone. */
const recipes = (pictures: Pictures) =>
  subjects.map(({ key, names }, index) => {
    const language = languages[index % 8]
    const whole = post(`recipe-${key}`, "news", newsTitle(names), index, {
      ...timed(index - 60),
      tags: ["recipes", key],
      ...covered(pictures, names.en),
      ...(language === undefined ? {} : { audience: groups(...countriesOf[language].map(ofCountry)) })
    })
    return language === undefined
      ? whole
      : { ...whole, translations: whole.translations.filter(({ locale }) => locale === language || locale === "en") }
  })

/** The news, announcements, pages and social posts of the demo. */
export const posts = (pictures: Pictures): ReadonlyArray<Row> =>
  rows([...notes(), ...stays(), ...campaigns(pictures), ...recipes(pictures)])
