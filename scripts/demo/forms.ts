import { euros } from "./goods.ts"
import { languages, type Texts, texts, translated } from "./words.ts"

// What modules ask of who orders, and what they say on social networks.

const network = (name: string, maxTextLength: number) => ({
  network: name,
  postTypes: ["post", "story"],
  maxTextLength
})
export const socials = (text: Texts, hashtag: string) => ({
  networks: [network("instagram", 2200), network("facebook", 5000), network("googleBusinessProfile", 1500)],
  translations: languages.map((locale) => ({ locale, text: text[locale], hashtags: ["korenbloem", hashtag] })),
  callToAction: { type: "order", url: "https://korenbloem.example/order" },
  textEditable: true,
  scheduling: { allowed: true },
  boosting: { allowed: true, minBudget: euros(1000), maxBudget: euros(25_000) }
})

const label = (...label: Parameters<typeof texts>) => ({ translations: translated({ label: texts(...label) }) })
const asked = (key: string, type: string, labels: ReturnType<typeof label>, rest: object = {}) => ({
  key,
  type,
  ...labels,
  ...rest
})

/** What every form asks. */
const person = [
  asked("name", "text", label("Naam", "Name", "Name", "Nom"), { required: true, width: 50 }),
  asked("email", "email", label("E-mail", "E-mail", "E-Mail", "E-mail"), { required: true, width: 50 })
]
const remarks = asked("remarks", "textarea", label("Opmerkingen", "Remarks", "Bemerkungen", "Remarques"), {
  validation: { maxLength: 2000 }
})
const form = (title: Texts, fields: ReadonlyArray<object>) => ({
  translations: translated({
    title,
    submitLabel: texts("Versturen", "Send", "Absenden", "Envoyer"),
    confirmation: texts("Bedankt!", "Thank you!", "Vielen Dank!", "Merci !")
  }),
  fields: [...person, ...fields, remarks],
  recipients: ["service@korenbloem.example"]
})

/** When, for how many, and where. */
export const booking = (title: Texts) =>
  form(title, [
    asked("day", "date", label("Dag", "Day", "Tag", "Jour"), { required: true, width: 25 }),
    asked("people", "number", label("Personen", "People", "Personen", "Personnes"), {
      width: 25,
      defaultValue: 4,
      validation: { min: 1, max: 40 }
    }),
    asked("place", "select", label("Plaats", "Place", "Ort", "Lieu"), {
      options: [
        { value: "branch", ...label("In de winkel", "In the branch", "In der Filiale", "En magasin") },
        { value: "online", ...label("Online", "Online", "Online", "En ligne") }
      ]
    }),
    asked("branch", "location", label("Filiaal", "Branch", "Filiale", "Magasin"), {
      visibleWhen: { field: "place", operator: "equals", value: "branch" }
    })
  ])

/** The name on a garment. */
export const embroidery = form(texts("Borduren", "Embroidery", "Stickerei", "Broderie"), [
  asked("embroidered", "checkbox", label("Met naam", "With a name", "Mit Namen", "Avec un nom")),
  asked("stitched", "text", label("Naam", "Name", "Name", "Nom"), {
    validation: { maxLength: 20, pattern: "^[\\p{L} .-]+$" },
    visibleWhen: { field: "embroidered", operator: "equals", value: true }
  })
])
