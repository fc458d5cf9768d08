import { largest, ofCountry } from "./brand.ts"
import { endOf, year } from "./time.ts"
import { languages, texts, translated } from "./words.ts"

// What modules say of the demo's products as goods, as an import takes it: how they are made, sent, priced and kept.

const cities = largest(12)
export const euros = (amountMinor: number) => ({ amountMinor, currency: "EUR" })

export const print = (width: number, height: number) => ({
  key: "print",
  format: "pdf",
  widthMm: width,
  heightMm: height,
  bleedMm: 3,
  cropMarks: true,
  colorSpace: "cmyk"
})
export const screen = (format: "mp4" | "png" | "jpg" | "html", widthPx: number, heightPx: number) => ({
  key: format,
  format,
  widthPx,
  heightPx,
  dpi: 72
})

/** A template that takes what it can from the branch that orders. */
export const template = (templateName: string, outputs: ReadonlyArray<object>) => ({
  templateName,
  engine: "studio",
  outputs,
  locales: languages,
  variables: [
    {
      key: "headline",
      type: "text",
      required: true,
      maxLength: 60,
      translations: translated({ label: texts("Kop", "Headline", "Überschrift", "Titre") })
    },
    { key: "branch", type: "text", source: "location", sourcePath: "name", editable: false },
    { key: "city", type: "text", source: "location", sourcePath: "address.city", editable: false },
    { key: "website", type: "text", source: "location", sourcePath: "contact.website" },
    { key: "signature", type: "text", source: "userProfile", sourcePath: "firstName" },
    { key: "article", type: "text", source: "product", sourcePath: "identifier", editable: false },
    { key: "background", type: "choice", choices: ["cornflower", "wheat", "white"] },
    { key: "small-print", type: "text", source: "fixed", fixedValue: "© Korenbloem", editable: false }
  ]
})

const ways = {
  parcel: texts("Pakketdienst", "Parcel service", "Paketdienst", "Colis"),
  express: texts("Spoed", "Express", "Express", "Express"),
  pickup: texts("Afhalen in het magazijn", "Pick up at the warehouse", "Abholung im Lager", "Retrait à l’entrepôt"),
  download: texts("Download", "Download", "Download", "Téléchargement")
}
const way = (key: keyof typeof ways, type: string, rest: object = {}) => ({
  key,
  type,
  translations: translated({ name: ways[key] }),
  ...rest
})

export const shipped = (weightGrams: number) => ({
  methods: [
    way("parcel", "shipping", { price: euros(495), freeFrom: euros(7500), leadTimeDays: { min: 2, max: 4 } }),
    way("express", "shipping", {
      price: euros(1295),
      leadTimeDays: { min: 1, max: 1 },
      countries: ["NL", "BE", "DE"]
    }),
    way("pickup", "pickup", { countries: ["NL"] })
  ],
  defaultMethod: "parcel",
  addressSources: ["address", "custom"],
  cutoffTime: "16:30",
  timezone: "Europe/Amsterdam",
  weightGrams
})
export const downloaded = { requiresShipping: false, methods: [way("download", "digital")], defaultMethod: "download" }

const channel = (name: string, formats: ReadonlyArray<string>, rest: object = {}) => ({
  channel: name,
  formats,
  ...rest
})

export const printed = {
  channels: [
    channel("print", ["pdf"], { supplier: { name: "Drukkerij De Halm", email: "orders@dehalm.example" } }),
    channel("download", ["pdf", "png"], { approvalRequired: true })
  ]
}
export const shown = { channels: [channel("signage", ["mp4", "png"]), channel("display", ["html"], { active: false })] }
export const posted = { channels: [channel("social", ["jpg", "mp4"]), channel("download", ["jpg"])] }
export const mailed = { channels: [channel("email", ["html"])] }
export const allotted = {
  ...printed,
  allocationMode: "explicit",
  allocations: cities.map((locationUuid, index) => ({ locationUuid, quantity: 12 - index }))
}
export const oneEach = { ...printed, allocationMode: "perLocation", quantityPerLocation: 1 }

/** A price that falls with the quantity, and is another one where wages or currencies are. */
export const price = (amountMinor: number, rest: object = {}) => {
  const share = (percent: number) => Math.round((amountMinor * percent) / 100)
  const tiers = (percent: number) => [
    { minimumQuantity: 10, amountMinor: share(percent - 10) },
    { minimumQuantity: 100, amountMinor: share(percent - 25) }
  ]
  return {
    model: "tiered",
    amountMinor,
    taxRatePercent: 21,
    tiers: tiers(100),
    overrides: [
      { scope: "group", uuid: ofCountry("CH"), amountMinor: share(120), tiers: tiers(120) },
      { scope: "group", uuid: ofCountry("GB"), amountMinor: share(110) },
      { scope: "location", uuid: cities[0], amountMinor: share(80), validUntil: endOf("12-31", year) }
    ],
    ...rest
  }
}

/** A stock that varies with `seed`, in two warehouses. */
export const stock = (seed: number, rest: object = {}) => {
  const level = (warehouse: string, factor: number) => ({
    warehouse,
    onHand: (seed * factor) % 900,
    reserved: (seed * factor) % 7,
    incoming: seed % 3 === 0 ? 200 : 0
  })
  const levels = [level("Utrecht", 37), level("Köln", 53)]
  const sum = (member: "onHand" | "reserved" | "incoming") => levels.reduce((total, one) => total + one[member], 0)
  return {
    mode: "reserveOnOrder",
    onHand: sum("onHand"),
    reserved: sum("reserved"),
    incoming: sum("incoming"),
    reorderPoint: 100,
    safetyStock: 25,
    restockableInDays: 14,
    notifyEmails: ["stock@korenbloem.example"],
    levels,
    ...rest
  }
}

/** What can be downloaded; the picture too, when the demo has one. */
export const files = (picture?: string, role = "download") => ({
  files: picture === undefined ? [] : [{ assetUuid: picture, role }],
  downloadLimitPerLocation: 50,
  watermark: role === "preview"
})
