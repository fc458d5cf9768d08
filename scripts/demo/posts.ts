import { flagships, largestBranches, managerOf, ofCountry } from "./places.ts"
import { pictures } from "./pictures.ts"
import { capitals, combined, inDays, rows, table, type Texts, texts, translated } from "./texts.ts"

const cities = largestBranches(24)

/** Posts with their type and the days from now to their publication. */
const notices = table(`
  prices | Nieuwe prijzen | New prices | Neue Preise | Nouveaux prix | announcement | -40
  holidays | Levering rond de feestdagen | Deliveries around the holidays | Lieferung an den Feiertagen | Livraisons pendant les fêtes | announcement | 6
  warehouse | Tweede magazijn in Keulen | Second warehouse in Cologne | Zweites Lager in Köln | Deuxième entrepôt à Cologne | announcement | -75
  uniforms | De nieuwe bedrijfskleding | The new uniforms | Die neue Arbeitskleidung | Les nouveaux uniformes | announcement | -20
  ordering | Hoe bestellen werkt | How ordering works | So bestellen Sie | Comment commander | page | -300
  house-style | Huisstijl | House style | Gestaltungsrichtlinien | Charte graphique | page | -300
  hygiene | Hygiëne in de winkel | Hygiene in the branch | Hygiene in der Filiale | Hygiène en magasin | page | -300
  privacy | Privacy | Privacy | Datenschutz | Confidentialité | page | -300
`)

const news = texts("Nieuw recept", "New recipe", "Neues Rezept", "Nouvelle recette")
const closing = texts(
  "Vragen? Mail de klantenservice.",
  "Questions? Mail the service desk.",
  "Fragen? Schreiben Sie dem Service.",
  "Des questions ? Écrivez au service."
)

const audiences = [
  { authorizationType: "everyone" },
  { authorizationType: "groups", groups: [flagships, ofCountry("NL")] },
  { authorizationType: "locations", locations: cities.slice(0, 6) }
]

const post = (slug: string, type: string, title: Texts, index: number, days: number, rest: object = {}) => ({
  slug,
  type,
  translations: translated({
    title: capitals(title),
    body: combined((language) => `<h2>${title[language]}</h2><p>${closing[language]}</p>`),
    excerpt: closing
  }),
  author: managerOf(cities[index % 8]!),
  audience: audiences[index % audiences.length],
  status: days > 0 ? "scheduled" : "published",
  publishAt: inDays(days),
  ...rest
})

/** Announcements, pages, and news and social posts with pictures. */
export const posts = (assets: ReadonlyMap<string, string>) => {
  const articles = pictures.filter(({ category }) => category === "breads" || category === "pastries")
  return rows([
    ...notices.map(({ key, names, rest: [type, days] }, index) =>
      post(key, type!, names, index, Number(days), { pinned: index % 4 === 0, tags: ["organisation"] })
    ),
    ...articles.map(({ names }, index) => {
      const title = combined((language) => `${news[language]}: ${names[language]}`)
      const coverAssetUuid = assets.get(names.en.toLowerCase())
      return post(`recipe-${index + 1}`, index % 3 === 0 ? "social" : "news", title, index, index * 3 - 60, {
        tags: ["recipes"],
        ...(coverAssetUuid === undefined ? {} : { coverAssetUuid })
      })
    })
  ])
}
