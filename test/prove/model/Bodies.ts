import type { Body, Command, Kind } from "./Commands.ts"
import { rules } from "./Rules.ts"
import type { Json, State } from "./State.ts"

/** Text as it is stored. */
const normal = (value: unknown): any =>
  typeof value === "string"
    ? value.normalize("NFC")
    : Array.isArray(value)
      ? value.map(normal)
      : typeof value === "object" && value !== null
        ? Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, normal(inner)]))
        : value

const uuids = (list: ReadonlyArray<string>) => list.map((uuid) => ({ uuid }))
const canonical = (locale: string) => (locale === "nl_be" ? "nl-BE" : locale)

/** A parent for a variant: mostly one that can have variants. */
const parentOf = (state: State, number: number) => {
  const parents = [...state.records.products].filter(([, { type }]) => type === "variantParent").map(([uuid]) => uuid)
  return parents.length > 0 && number < 18 ? parents[number % parents.length]! : state.of("products", number)
}

/** What a command of the model stands for, in the words of the API. */
const worded: Readonly<Record<Kind, (state: State, body: any) => Json>> = {
  locations: (_state, body) => body,
  users: (_state, body) => body,
  groups: (state, { locations, users, ...body }) => ({
    ...body,
    ...(users === undefined ? {} : { users: state.all("users", users) }),
    ...(locations === undefined ? {} : { locations: state.all("locations", locations) })
  }),
  products: (state, { parent, size, ...body }) => ({
    ...body,
    ...(parent === undefined ? {} : { parentUuid: parentOf(state, parent) }),
    ...(size === undefined ? {} : { optionValues: [{ option: "size", value: size }] })
  }),
  posts: (state, { audience, author, cover, media, translations, ...body }) => ({
    ...body,
    ...(translations === undefined
      ? {}
      : { translations: translations.map((item: Json, index: number) => ({ locale: ["en", "nl"][index], ...item })) }),
    ...(author === undefined ? {} : { author: author === null ? null : { uuid: state.of("users", author) } }),
    ...(cover === undefined ? {} : { coverAssetUuid: cover === null ? null : state.of("assets", cover) }),
    ...(media === undefined ? {} : { mediaAssetUuids: state.all("assets", media) }),
    ...(audience === undefined
      ? {}
      : {
          audience: {
            ...audience,
            ...(audience.groups === undefined ? {} : { groups: uuids(state.all("groups", audience.groups)) }),
            ...(audience.locations === undefined
              ? {}
              : { locations: uuids(state.all("locations", audience.locations)) })
          }
        })
  }),
  assets: (state, { file, ...body }) => ({
    ...body,
    ...(file === undefined ? {} : { fileUuid: state.of("files", file) })
  })
}

/** The body that is sent, and what the service makes of it. */
export interface Worded {
  readonly sent: Body
  readonly meant: Json
}

export const word = (state: State, kind: Kind, body: Body): Worded => {
  const sent = worded[kind](state, body)
  const meant = normal(sent)
  if (kind === "assets" && meant.translations !== undefined) {
    meant.translations = meant.translations.map((item: Json) => ({ ...item, locale: canonical(item["locale"]) }))
  }
  return { sent, meant }
}

/** The body that creates a record. */
export const creation = (state: State, { body, kind, type }: Extract<Command, { op: "create" }>): Worded => {
  if (kind === "products") {
    const { parent = 0, size = "a4", ...rest } = body as Json
    const variant = type === "variant" || parent === 20 ? { parent, size } : {}
    const { meant, sent } = word(state, kind, { ...rest, ...variant })
    return { sent: { type, ...sent }, meant: { type, ...meant } }
  }
  const { file = 0 } = body as Json
  return word(state, kind, kind === "assets" ? { ...body, file } : body)
}

/** Whether a body does not decode, whatever else is wrong with it. */
export const isUndecodable = (kind: Kind, meant: Json, isCreation: boolean): boolean => {
  const locales = kind === "assets" ? (meant["translations"] ?? []).map(({ locale }: Json) => locale) : []
  const isNameless =
    isCreation && kind === "assets" && meant["translations"]?.some(({ name }: Json) => typeof name !== "string")
  return (
    rules[kind].required.some((member) => meant[member] === null) ||
    new Set(locales).size < locales.length ||
    isNameless === true
  )
}
