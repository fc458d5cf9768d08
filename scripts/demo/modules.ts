import { flagships, largestBranches, managerOf, ofCountry } from "./places.ts"
import { inDays, languages, type Texts, texts, translated, year } from "./texts.ts"

// The settings of every kind of module, in the form an import takes.

const cities = largestBranches(12)
const euros = (amountMinor: number) => ({ amountMinor, currency: "EUR" })
const label = (...label: Parameters<typeof texts>) => ({ translations: translated({ label: texts(...label) }) })

export const print = (widthMm: number, heightMm: number) => {
  return { key: "print", format: "pdf", widthMm, heightMm, bleedMm: 3, cropMarks: true, colorSpace: "cmyk" }
}
export const screen = (format: "mp4" | "png" | "jpg", widthPx: number, heightPx: number) => {
  return { key: format, format, widthPx, heightPx, dpi: 72 }
}

/** A template whose variables are filled from the ordering branch. */
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
      ...label("Kop", "Headline", "Überschrift", "Titre")
    },
    { key: "branch", type: "text", source: "location", sourcePath: "name", editable: false },
    { key: "background", type: "choice", choices: ["cornflower", "wheat", "white"] }
  ]
})

export const shipped = (weightGrams: number) => ({
  methods: [
    {
      key: "parcel",
      type: "shipping",
      translations: translated({ name: texts("Pakketdienst", "Parcel service", "Paketdienst", "Colis") }),
      price: euros(495),
      freeFrom: euros(7500),
      leadTimeDays: { min: 2, max: 4 }
    }
  ],
  defaultMethod: "parcel",
  weightGrams
})

const channels = (...channels: ReadonlyArray<readonly [channel: string, ...formats: ReadonlyArray<string>]>) => ({
  channels: channels.map(([channel, ...formats]) => ({ channel, formats }))
})
export const printed = channels(["print", "pdf"], ["download", "pdf", "png"])
export const shown = channels(["signage", "mp4", "png"], ["display", "html"])
export const posted = channels(["social", "jpg", "mp4"], ["download", "jpg"])
export const byApi = channels(["api"])
export const allotted = {
  ...printed,
  allocationMode: "explicit",
  allocations: cities.map((locationUuid, index) => ({ locationUuid, quantity: 12 - index }))
}

export const socials = (text: Texts) => ({
  networks: [{ network: "instagram", postTypes: ["post", "story"], maxTextLength: 2200 }],
  translations: languages.map((locale) => ({ locale, text: text[locale], hashtags: ["korenbloem"] })),
  callToAction: { type: "order", url: "https://korenbloem.example/order" },
  scheduling: { allowed: true }
})

/** A price that falls with the quantity and is higher in Switzerland. */
export const price = (amountMinor: number, rest: object = {}) => {
  const share = (percent: number) => Math.round((amountMinor * percent) / 100)
  return {
    model: "tiered",
    amountMinor,
    taxRatePercent: 21,
    tiers: [{ minimumQuantity: 100, amountMinor: share(75) }],
    overrides: [{ scope: "group", uuid: ofCountry("CH"), amountMinor: share(120) }],
    ...rest
  }
}

/** A stock that varies with `seed`. */
export const stock = (seed: number, rest: object = {}) => {
  const onHand = (seed * 37) % 900
  return { mode: "reserveOnOrder", onHand, reserved: seed % 7, reorderPoint: 100, safetyStock: 25, ...rest }
}

export const files = (assetUuid: string | undefined, role: "print" | "preview") => ({
  files: assetUuid === undefined ? [] : [{ assetUuid, role }],
  downloadLimitPerLocation: 50,
  watermark: role === "preview"
})

/** Approval by the manager of the branch. */
export const approval = (below: number) => ({
  name: "Approval of large orders",
  autoApproveBelow: euros(below),
  steps: [{ name: "Branch", approvers: { type: "locationManagers" }, dueInHours: 24 }]
})

/** A past, a current and a coming campaign. */
export const campaigns = (key: string) => ({
  onlyDuringCampaign: false,
  campaigns: [-90, 0, 90].map((days, index) => ({
    key: `${key}-${index + 1}`,
    name: `Campaign ${index + 1}: ${key}`,
    status: ["closed", "active", "scheduled"][index],
    startsAt: inDays(days - 10),
    endsAt: inDays(days + 60),
    responsibleUserUuid: managerOf(cities[index]!)
  }))
})

export const everywhere = { mode: "all" }
export const inCountries = (...countries: ReadonlyArray<string>) => ({
  mode: "include",
  groups: countries.map(ofCountry),
  locations: cities.slice(0, 2)
})

export const forEveryone = { authorizationType: "everyone" }
export const forFlagships = {
  authorizationType: "groups",
  groups: [
    { uuid: flagships, actions: ["view", "order", "customize"] },
    { uuid: ofCountry("NL"), actions: ["view"] }
  ]
}

export const supplier = (externalId: string) => ({
  provider: "De Halm",
  externalId,
  endpoint: "https://orders.dehalm.example/v2/lines",
  fieldMapping: [{ source: "location.identifier", target: "shipTo" }]
})

export const comment = (about: string) => ({
  comment: `**${about}**: order in time, the printer needs four days.`,
  visibility: "managers",
  editedBy: managerOf(cities[0]!),
  thread: [{ body: "Is the recycled paper in stock?", author: managerOf(cities[1]!), createdAt: inDays(-12) }]
})

/** Lent by the day, on working days. */
export const reservations = (quantity: number) => ({
  quantity,
  maxDuration: 14,
  leadTime: 3,
  bufferAfter: 1,
  maxPerLocation: 2,
  approvalRequired: quantity < 10,
  availability: [1, 2, 3, 4, 5].map((weekday) => ({ weekday, from: "08:00", until: "18:00" })),
  blackouts: [{ from: `${year}-12-24T00:00:00.000Z`, until: `${year}-12-26T23:00:00.000Z`, reason: "Christmas" }]
})

const required = { required: true, width: 50 }

/** A form for a booking: contact, day and branch. */
export const booking = (title: Texts) => ({
  translations: translated({
    title,
    submitLabel: texts("Versturen", "Send", "Absenden", "Envoyer"),
    confirmation: texts("Bedankt!", "Thank you!", "Vielen Dank!", "Merci !")
  }),
  fields: [
    { key: "email", type: "email", ...label("E-mail", "E-mail", "E-Mail", "E-mail"), ...required },
    { key: "day", type: "date", ...label("Dag", "Day", "Tag", "Jour"), ...required },
    {
      key: "branch",
      type: "location",
      ...label("Filiaal", "Branch", "Filiale", "Magasin")
    }
  ],
  recipients: ["service@korenbloem.example"]
})
