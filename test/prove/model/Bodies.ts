import type { Body, Command, Kind } from "./Commands.ts"
import { rules } from "./Rules.ts"
import type { Json, State } from "./State.ts"

/** Normalizes text as the service stores it. */
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

/** A parent for a variant: usually one that can have variants. */
const parentOf = (state: State, number: number) => {
  const parents = [...state.records.products].filter(([, { type }]) => type === "variantParent").map(([uuid]) => uuid)
  return parents.length > 0 && number < 18 ? parents[number % parents.length]! : state.of("products", number)
}

/** The request body of a command: numbers become uuids. */
const requestBodies: Readonly<Record<Kind, (state: State, body: any) => Json>> = {
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

/** The body that is sent, and its decoded form. */
export interface Bodies {
  readonly sent: Body
  readonly decoded: Json
}

export const bodiesOf = (state: State, kind: Kind, body: Body): Bodies => {
  const sent = requestBodies[kind](state, body)
  const decoded = normal(sent)
  if (kind === "assets" && decoded.translations !== undefined) {
    decoded.translations = decoded.translations.map((item: Json) => ({ ...item, locale: canonical(item["locale"]) }))
  }
  return { sent, decoded }
}

/** The body that creates a record. */
export const creation = (state: State, { body, kind, type }: Extract<Command, { op: "create" }>): Bodies => {
  if (kind === "products") {
    const { parent = 0, size = "a4", ...rest } = body as Json
    const variant = type === "variant" || parent === 20 ? { parent, size } : {}
    const { decoded, sent } = bodiesOf(state, kind, { ...rest, ...variant })
    return { sent: { type, ...sent }, decoded: { type, ...decoded } }
  }
  const { file = 0 } = body as Json
  return bodiesOf(state, kind, kind === "assets" ? { ...body, file } : body)
}

/** Whether a body does not decode, regardless of other errors. */
export const isUndecodable = (kind: Kind, decoded: Json, isCreation: boolean): boolean => {
  const locales = kind === "assets" ? (decoded["translations"] ?? []).map(({ locale }: Json) => locale) : []
  const isNameless =
    isCreation && kind === "assets" && decoded["translations"]?.some(({ name }: Json) => typeof name !== "string")
  return (
    rules[kind].required.some((member) => decoded[member] === null) ||
    new Set(locales).size < locales.length ||
    isNameless === true
  )
}
