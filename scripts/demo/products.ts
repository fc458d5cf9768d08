import type { Row } from "../../src/cli/transfer/Row.ts"
import { rows } from "./brand.ts"
import { lent, media, seasonal, seasons, services, subjects, supplies } from "./catalogue.ts"
import { booking, socials } from "./forms.ts"
import * as Goods from "./goods.ts"
import { aboutOf, product } from "./product.ts"
import * as Rules from "./rules.ts"
import { uniforms } from "./uniforms.ts"
import { combined, texts } from "./words.ts"

/** Assets of the demo by what they show, in English and lower case; none when it has no pictures. */
export type Pictures = ReadonlyMap<string, string>

const made = {
  paper: texts(
    "Met de naam en het adres van uw filiaal, gedrukt op gerecycled papier",
    "With the name and address of your branch, printed on recycled paper",
    "Mit Namen und Adresse Ihrer Filiale, auf Recyclingpapier gedruckt",
    "Avec le nom et l’adresse de votre magasin, imprimé sur papier recyclé"
  ),
  screen: texts(
    "Voor de schermen in de winkel",
    "For the screens in the branch",
    "Für die Bildschirme in der Filiale",
    "Pour les écrans du magasin"
  ),
  social: texts(
    "Plaats hem op uw eigen pagina",
    "Post it on your own page",
    "Für Ihre eigene Seite",
    "À publier sur votre page"
  )
}

/** What every subject is advertised with. */
const advertising = (pictures: Pictures) =>
  subjects.flatMap((subject, row) =>
    media.map(({ key, names, rest: [kind, wide, high, cents] }, column) => {
      const [width, height, seed] = [Number(wide), Number(high), row * media.length + column]
      const title = combined((language) => `${names[language]}: ${subject.names[language]}`)
      const [season] = subject.rest
      const picture = pictures.get(subject.names.en)
      const outputs =
        kind === "paper"
          ? [Goods.print(width, height), Goods.screen("png", 800, 800)]
          : [Goods.screen("mp4", width, height), Goods.screen(kind === "screen" ? "html" : "jpg", width, height)]
      const byKind = {
        paper: {
          delivery: Goods.shipped(Math.round((width * height) / 5000)),
          distribution: season === undefined ? Goods.printed : Goods.oneEach,
          price: Goods.price(Number(cents)),
          api: Rules.supplier(`DH-${key}-${subject.key}`)
        },
        screen: { delivery: Goods.downloaded, distribution: Goods.shown, price: { model: "free" } },
        social: {
          distribution: Goods.posted,
          socials: socials(title, subject.names.en.replaceAll(/\W/g, "")),
          workflow: Rules.review
        }
      }
      return product(`${key}-${subject.key}`, title, aboutOf(title, made[kind as keyof typeof made]), {
        categories: ["advertising", kind],
        tags: [subject.key, ...(season === undefined ? [] : [season])],
        position: seed,
        modules: {
          ...byKind[kind as keyof typeof byKind],
          template: Goods.template(title.en, outputs),
          permissions: column % 4 === 3 ? Rules.forFlagships : Rules.forEveryone,
          ...(picture === undefined && column !== 0
            ? {}
            : { files: Goods.files(picture, kind === "paper" ? "print" : "preview") }),
          ...(season === undefined ? {} : { campaigns: Rules.campaigns([season]) }),
          ...(Number(cents) > 500 ? { workflow: Rules.approval(2500) } : {}),
          ...(seed % 7 === 0 ? { "internal-comment": Rules.comment(title.en) } : {}),
          ...(row % 5 === 4 ? { locations: Rules.outside("GB", "IE") } : {})
        }
      })
    })
  )

const seasonTimes = { "saint-nicholas": ["NL", "BE"], "mothers-day": ["NL", "BE", "DE", "AT", "CH", "FR"] } as const

/** What every season brings. */
const ofSeasons = () =>
  seasons.flatMap((season) =>
    seasonal.map(({ key, names, rest: [cents] }, index) => {
      const title = combined((language) => `${names[language]} ${season.names[language]}`)
      const countries = season.key in seasonTimes ? seasonTimes[season.key as keyof typeof seasonTimes] : undefined
      const mail = key === "newsletter"
      return product(`${season.key}-${key}`, title, aboutOf(title, mail ? made.social : made.paper), {
        categories: ["campaigns"],
        tags: [season.key],
        status: index === 3 && season.key === "valentine" ? "draft" : "published",
        modules: {
          campaigns: Rules.campaigns([season.key], key === "kit"),
          distribution: mail ? Goods.mailed : key === "kit" ? Goods.allotted : Goods.printed,
          delivery: mail ? Goods.downloaded : Goods.shipped(1200),
          price: mail ? { model: "free" } : Goods.price(Number(cents), { unit: key === "kit" ? "set" : "piece" }),
          locations: countries === undefined ? Rules.everywhere : Rules.inCountries(...countries),
          permissions: key === "banner" ? Rules.forSome : Rules.forEveryone,
          workflow: Rules.approval(5000),
          files: Goods.files(),
          template: Goods.template(title.en, [mail ? Goods.screen("html", 640, 1600) : Goods.print(210, 297)]),
          ...(mail ? {} : { stock: Goods.stock(index + 11, { mode: "trackOnly", allowBackorder: true }) })
        }
      })
    })
  )

const usedUp = () =>
  supplies.map(({ key, names, rest: [pieces, grams, cents] }, index) =>
    product(
      key,
      names,
      aboutOf(
        names,
        combined(() => `${pieces} ×`)
      ),
      {
        categories: ["supplies"],
        position: index,
        modules: {
          stock: Goods.stock(index + 3, {
            mode: index % 4 === 0 ? "reserveOnCart" : "reserveOnOrder",
            orderMultiple: 1
          }),
          price: Goods.price(Number(cents), { unit: "set", taxRatePercent: 9 }),
          delivery: Goods.shipped(Number(grams)),
          locations: index % 6 === 5 ? Rules.inCountries("NL", "BE", "DE") : Rules.everywhere,
          permissions: Rules.forEveryone,
          ...(index % 5 === 0 ? { "internal-comment": Rules.comment(names.en) } : {})
        }
      }
    )
  )

const forEvents = () =>
  lent.map(({ key, names, rest: [quantity] }) =>
    product(key, names, aboutOf(names, texts("Te leen", "To borrow", "Zum Ausleihen", "À emprunter")), {
      categories: ["events"],
      modules: {
        reservations: Rules.reservations(Number(quantity)),
        "form-builder": booking(names),
        locations: Rules.inCountries("NL", "BE", "DE", "FR"),
        delivery: Goods.shipped(20_000),
        workflow: Rules.approval(1),
        permissions: Rules.forFlagships,
        price: { model: "free" },
        "internal-comment": Rules.comment(names.en)
      }
    })
  )

const onRequest = () =>
  services.map(({ key, names }, index) =>
    product(key, names, aboutOf(names, texts("Op aanvraag", "On request", "Auf Anfrage", "Sur demande")), {
      categories: ["services"],
      status: index === services.length - 1 ? "archived" : "published",
      modules: {
        "form-builder": booking(names),
        price:
          index % 2 === 0 ? { model: "onRequest", unit: "hour" } : { model: "fixed", amountMinor: 9500, unit: "hour" },
        permissions: Rules.forEveryone,
        workflow: Rules.approval(10_000),
        delivery: { requiresShipping: false }
      }
    })
  )

/** The shop of the demo. */
export const products = (pictures: Pictures): ReadonlyArray<Row> =>
  rows([...advertising(pictures), ...ofSeasons(), ...uniforms(), ...usedUp(), ...forEvents(), ...onRequest()])
