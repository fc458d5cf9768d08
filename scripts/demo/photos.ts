import { mkdirSync } from "node:fs"
import { join } from "node:path"
import sharp from "sharp"
import { type Image, photosFolder, type Texts } from "./images.ts"

/** The photographs, by what of a shop they show. */
const photos: ReadonlyArray<{
  readonly file: string
  readonly fileName: string
  readonly role: "exterior" | "interior" | "team" | "menu" | "other"
  readonly names: Texts
  /** What must not be cut away; 0 to 1, from the left and from the top. */
  readonly focalPoint: { readonly x: number; readonly y: number }
}> = [
  {
    file: "about.jpg",
    focalPoint: { x: 0.38, y: 0.4 },
    fileName: "cafe",
    role: "interior",
    names: { nl: "Het café", en: "The café", de: "Das Café", fr: "Le café" }
  },
  {
    file: "intro.jpg",
    focalPoint: { x: 0.48, y: 0.35 },
    fileName: "barista",
    role: "team",
    names: { nl: "Barista aan het werk", en: "Barista at work", de: "Barista bei der Arbeit", fr: "Barista au travail" }
  },
  {
    file: "products-01.jpg",
    focalPoint: { x: 0.5, y: 0.5 },
    fileName: "coffee-tasting",
    role: "menu",
    names: { nl: "Koffieproeverij", en: "Coffee tasting", de: "Kaffeeverkostung", fr: "Dégustation de cafés" }
  },
  {
    file: "products-02.jpg",
    focalPoint: { x: 0.53, y: 0.58 },
    fileName: "fresh-croissant",
    role: "menu",
    names: { nl: "Verse croissant", en: "Fresh croissant", de: "Frisches Croissant", fr: "Croissant frais" }
  },
  {
    file: "products-03.jpg",
    focalPoint: { x: 0.5, y: 0.5 },
    fileName: "coffee-sacks",
    role: "other",
    names: { nl: "Zakken koffie", en: "Sacks of coffee", de: "Kaffeesäcke", fr: "Sacs de café" }
  },
  {
    file: "bg.jpg",
    focalPoint: { x: 0.5, y: 0.5 },
    fileName: "coffee-beans",
    role: "other",
    names: { nl: "Koffiebonen", en: "Coffee beans", de: "Kaffeebohnen", fr: "Grains de café" }
  }
]

/** Width to height of the formats a campaign needs, and what they are called. */
const formats: ReadonlyArray<{ readonly key: string; readonly ratio: number; readonly names: Texts }> = [
  { key: "square", ratio: 1, names: { nl: "vierkant", en: "square", de: "quadratisch", fr: "carré" } },
  { key: "story", ratio: 9 / 16, names: { nl: "story", en: "story", de: "Story", fr: "story" } },
  { key: "banner", ratio: 3, names: { nl: "banner", en: "banner", de: "Banner", fr: "bannière" } }
]

const described = (names: Texts): Texts => ({
  nl: `${names.nl}. Sfeerbeeld van Korenbloem voor website, sociale media en drukwerk.`,
  en: `${names.en}. Korenbloem brand photo for website, social media and print.`,
  de: `${names.de}. Stimmungsbild von Korenbloem für Website, soziale Medien und Druck.`,
  fr: `${names.fr}. Photo de la marque Korenbloem pour le site, les réseaux sociaux et l'impression.`
})

/** A photograph of a shop, and for what of it it stands. */
export interface Photo extends Image {
  readonly role: (typeof photos)[number]["role"]
}

const photo = (
  { fileName, focalPoint, names, role }: (typeof photos)[number],
  path: string,
  format: string,
  formatNames?: Texts
): Photo => {
  const named = (language: keyof Texts) =>
    formatNames === undefined ? names[language] : `${names[language]}, ${formatNames[language]}`
  const all = { nl: named("nl"), en: named("en"), de: named("de"), fr: named("fr") }
  return {
    path,
    role,
    fileName: `${fileName}${formatNames === undefined ? "" : `-${format}`}.jpg`,
    category: "photos",
    names: all,
    descriptions: described(all),
    ...(formatNames === undefined ? { focalPoint } : {}),
    metaTags: { format, rightsHolder: "Start Bootstrap (Business Casual)", licence: "MIT" }
  }
}

/** The photographs as they are. */
export const originals = (): ReadonlyArray<Photo> =>
  photos.map((one) => photo(one, join(photosFolder(), one.file), "original"))

/** Where a cut of this length begins, so that its middle is at the point as far as the whole allows. */
const start = (whole: number, length: number, point: number) =>
  Math.round(Math.min(Math.max(whole * point - length / 2, 0), whole - length))

/** Every photograph in every format, cut around its focal point; written to a folder. */
export const cropped = async (folder: string): Promise<ReadonlyArray<Photo>> => {
  mkdirSync(folder, { recursive: true })
  const cuts = photos.flatMap((one) => formats.map((format) => ({ one, format })))
  return await Promise.all(
    cuts.map(async ({ format, one }) => {
      const source = join(photosFolder(), one.file)
      const { height, width } = await sharp(source).metadata()
      const path = join(folder, `${one.fileName}-${format.key}.jpg`)
      const cut = {
        width: Math.floor(Math.min(width, height * format.ratio)),
        height: Math.floor(Math.min(height, width / format.ratio))
      }
      await sharp(source)
        .extract({
          ...cut,
          left: start(width, cut.width, one.focalPoint.x),
          top: start(height, cut.height, one.focalPoint.y)
        })
        .jpeg({ quality: 82 })
        .toFile(path)
      return photo(one, path, format.key, format.names)
    })
  )
}

const petal = (angle: number) =>
  `<path d="M0-70 C-48-110 -74-190 -52-262 L-26-226 L0-284 L26-226 L52-262 C74-190 48-110 0-70Z" transform="rotate(${angle})"/>`

/** A cornflower. */
const flower = (colour: string, background: string, heart: string) => `<svg xmlns="http://www.w3.org/2000/svg"
  viewBox="-320 -320 640 640" width="1024" height="1024"><rect x="-320" y="-320" width="640" height="640" rx="96"
  fill="${background}"/><g fill="${colour}">${Array.from({ length: 8 }, (_, index) => petal(index * 45)).join("")}</g>
  <circle r="64" fill="${heart}"/></svg>`

const logos = [
  {
    fileName: "logo-blue.png",
    svg: flower("#3b5bdb", "#ffffff", "#25367d"),
    names: { nl: "Logo, blauw", en: "Logo, blue", de: "Logo, blau", fr: "Logo, bleu" }
  },
  {
    fileName: "logo-white.png",
    svg: flower("#ffffff", "#3b5bdb", "#dbe4ff"),
    names: {
      nl: "Logo, wit op blauw",
      en: "Logo, white on blue",
      de: "Logo, weiß auf blau",
      fr: "Logo, blanc sur bleu"
    }
  },
  {
    fileName: "logo-black.png",
    svg: flower("#111111", "#ffffff", "#555555"),
    names: { nl: "Logo, zwart", en: "Logo, black", de: "Logo, schwarz", fr: "Logo, noir" }
  }
]

/** The logo of the brand in its colours, drawn to a folder; the first is the usual one. */
export const drawnLogos = async (folder: string): Promise<ReadonlyArray<Image>> => {
  mkdirSync(folder, { recursive: true })
  return await Promise.all(
    logos.map(async ({ fileName, names, svg }) => {
      const path = join(folder, fileName)
      await sharp(Buffer.from(svg)).png().toFile(path)
      return { path, fileName, category: "logos", names, descriptions: described(names), metaTags: { licence: "MIT" } }
    })
  )
}
