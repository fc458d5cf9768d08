import { pick, type Random } from "../Random.ts"
import { unknownUuid } from "../requests/Requests.ts"

/** The resources whose records are written in bulk, and the member that is their business key. */
export const keys = {
  users: "username",
  locations: "identifier",
  groups: "name",
  products: "identifier",
  posts: "slug",
  assets: undefined,
  "meta-tags": "key",
  "asset-categories": "key"
} as const
export type Resource = keyof typeof keys
export const resources = Object.keys(keys) as ReadonlyArray<Resource>

export type Fields = Readonly<Record<string, unknown>>

/** Records that data can name. */
export interface Known {
  readonly uuids: Readonly<Record<Resource, ReadonlyArray<string>>>
  readonly files: ReadonlyArray<string>
}

const words = "anna bram carla daan eva floor guus hanna iris joris kees lotte mees nora otto puck".split(" ")
/** Texts that are the same to some unique rules, and not to others. */
const alike = ["ΣΑΣ", "σασ", "σας", "Straße", "STRASSE", "élan", "e\u0301lan", "Elan", "Kelvin", "\u212Aelvin"]

/** Random data of creations and patches, much of which collides with that of other records or breaks a rule. */
export const make = (random: Random, known: Known) => {
  /** Keys that no record has, for sequences that mostly succeed. */
  const fresh = { isOn: false, count: 0 }
  const maybe = (chance: number) => random() < chance
  const one = (resource: Resource) =>
    maybe(0.05) || known.uuids[resource].length === 0 ? unknownUuid : pick(random, known.uuids[resource])
  const some = (resource: Resource, most = 4) =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, () => one(resource))
  const among = <A>(...values: ReadonlyArray<A>): A => pick(random, values)
  const word = () => pick(random, words)

  const cased = (text: string) => (maybe(0.15) ? text.toUpperCase() : maybe(0.1) ? ` ${text} ` : text)
  const keyOf = (resource: Resource): string => {
    if (fresh.isOn && maybe(0.8)) return `new${++fresh.count}`
    if (resource === "posts" || resource === "asset-categories") return maybe(0.05) ? cased(word()) : word()
    if (resource === "meta-tags") return maybe(0.05) ? cased(word()) : word().slice(0, 3)
    return maybe(0.15) ? pick(random, alike) : maybe(0.02) ? " " : cased(word())
  }

  const optional = (chance: number, fields: Readonly<Record<string, () => unknown>>): Fields =>
    Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (maybe(chance) ? [[name, value()]] : [])))

  const translations = (member: string, more: Readonly<Record<string, () => unknown>> = {}) =>
    ["de", "en", "nl_nl", "xx-yyyy"]
      .filter((locale) => maybe(locale === "xx-yyyy" ? 0.02 : 0.4))
      .map((locale) => ({ locale, [member]: word(), ...optional(0.3, more) }))

  const address = () =>
    optional(0.4, {
      city: () => among(word(), null),
      zipcode: () => among("3511 AB", null),
      countryCode: () => among("NL", "nl", "BE", null),
      addressLine1: () => among(word(), null)
    })

  const all: Readonly<Record<Resource, Readonly<Record<string, () => unknown>>>> = {
    users: {
      username: () => keyOf("users"),
      email: () => `${fresh.isOn ? keyOf("users").trim() : cased(word()).trim()}@example.com`,
      firstName: () => among(word(), word(), null),
      status: () => among("active", "suspended", "pending"),
      role: () => among("ROLE_USER", "ROLE_ADMIN"),
      languageCode: () => among("nl", "EN", "de", "xx"),
      countryCode: () => among("NL", null),
      phone: () => among("+31 30 1234567", null),
      externalId: () => among(word(), null)
    },
    locations: {
      identifier: () => keyOf("locations"),
      name: word,
      postalCodes: () => among(["3511 AB", "3511 AB", "1000"], [], null),
      address: () => among(address(), address(), null, {}),
      legal: () => among({ address: address() }, { address: null }, null),
      invoice: () => among({ name: word(), address: address() }, { email: null }, null),
      contact: () => among({ phone: null }, { phone: "+31 30 1", email: "a@example.com" }, { website: null }, null),
      coordinates: () =>
        among({ latitude: 1, longitude: 2 }, { latitude: 3 }, { latitude: null, longitude: null }, { longitude: null }),
      locale: () => among("nl-NL", "nl_be", "xx-yyyy", null),
      status: () => among("open", "temporarilyClosed", null),
      timezone: () => among("Europe/Amsterdam", "Europe/Amsterdam", "America/New_York", null),
      openingHours: () => among([{ day: 1, opens: "09:00", closes: "17:00" }], [], null),
      specialHours: () => among([{ date: "2026-12-25", label: word() }], [], null),
      other: () => among({ extraDna1: word(), extraDna2: null }, { extraDna1: null }, null)
    },
    groups: {
      name: () => keyOf("groups"),
      users: () => some("users"),
      locations: () => some("locations", 2),
      description: () => among(word(), null),
      externalId: () => among(word(), null)
    },
    products: {
      identifier: () => keyOf("products"),
      name: word,
      description: () => among(word(), null),
      status: () => among("draft", "published", "archived"),
      categories: () => among([word()], [word(), word()], null),
      tags: () => among([word()], [], null),
      visibleFrom: () => among("2026-01-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z", null),
      visibleUntil: () => among("2026-02-01T00:00:00.000Z", "2026-04-01T00:00:00.000Z", null),
      position: () => among(0, 1, 2, -1),
      translations: () => among(translations("name", { description: word }), null)
    },
    posts: {
      slug: () => keyOf("posts"),
      status: () => among("draft", "scheduled", "archived"),
      publishAt: () => among("2040-01-01T00:00:00.000Z", null),
      expireAt: () => among("2039-01-01T00:00:00.000Z", "2041-01-01T00:00:00.000Z", null),
      translations: () =>
        translations("title", {
          excerpt: word,
          body: () => among(`<p onclick="a()">${word()}</p>`, `<b>${word()}</b>`, "<script></script>")
        }),
      author: () => among({ uuid: one("users") }, null),
      audience: () =>
        among(
          { authorizationType: "everyone" },
          { groups: some("groups").map((uuid) => ({ uuid })) },
          { authorizationType: "locations", locations: some("locations", 2).map((uuid) => ({ uuid })) },
          { groups: null }
        ),
      coverAssetUuid: () => among(one("assets"), null),
      mediaAssetUuids: () => among(some("assets"), null),
      tags: () => among([word()], null),
      callToAction: () => among({ type: "order" }, { type: "call", url: "https://example.com/" }, { url: null }, null),
      pinned: () => maybe(0.5)
    },
    assets: {
      fileUuid: () => (maybe(0.03) ? unknownUuid : pick(random, known.files)),
      translations: () =>
        maybe(0.3) ? [{ locale: "nl", name: null }] : translations("name", { description: () => among(word(), null) }),
      categories: () => among([keyOf("asset-categories")], [one("asset-categories")], [], null),
      validFrom: () => among("2026-01-01T00:00:00.000Z", null),
      validUntil: () => among("2025-01-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z", null),
      focalPoint: () => among({ x: 0.5, y: 0.25 }, { x: 0.1 }, { x: null }, null)
    },
    "meta-tags": {
      position: () => among(0, 1, 2),
      translations: () => translations("name", { helpText: word }),
      required: () => maybe(0.02),
      filterable: () => maybe(0.5),
      searchable: () => maybe(0.5),
      editable: () => maybe(0.9),
      categories: () => among([keyOf("asset-categories")], [one("asset-categories")], [], null),
      group: () => among({ key: word(), position: 1 }, { position: null }, null),
      options: () => among([{ key: "a" }, { key: "b" }], [{ key: "b", active: false }], [{ key: "c" }], null),
      validation: () => among({ minLength: 2 }, { maxItems: 1 }, { maxItems: null }, null),
      defaultValue: () => among<unknown>("a", 1, null)
    },
    "asset-categories": {
      key: () => keyOf("asset-categories"),
      position: () => among(0, 1, 2),
      parentUuid: () => among(one("asset-categories"), null),
      translations: () => translations("name")
    }
  }

  /** What only a creation has. */
  const required: Readonly<Record<Resource, () => Fields>> = {
    users: () => ({
      username: keyOf("users"),
      email: all.users["email"]!(),
      ...optional(0.35, { groups: () => some("groups"), locations: () => some("locations") })
    }),
    locations: () => ({ name: word(), identifier: keyOf("locations") }),
    groups: () => ({ name: keyOf("groups") }),
    products: () => {
      const type = among("default", "default", "variantParent", "variant", "variant")
      const common = { type, name: word(), identifier: keyOf("products") }
      return (type === "variant") === maybe(0.95)
        ? { ...common, parentUuid: one("products"), optionValues: [{ option: "size", value: among("s", "m", "l") }] }
        : common
    },
    posts: () => ({
      type: among("news", "page"),
      translations: [{ locale: "en", title: `${word()} ${word()}` }, ...(maybe(0.1) ? translations("title") : [])]
    }),
    assets: () => ({
      fileUuid: pick(random, known.files),
      ...optional(0.2, { metaTags: () => [{ key: keyOf("meta-tags"), value: among<unknown>("a", "b", 3, null) }] })
    }),
    "meta-tags": () => ({ key: keyOf("meta-tags"), type: among("text", "integer", "select", "multiSelect") }),
    "asset-categories": () => ({ key: keyOf("asset-categories") })
  }

  /** Members that relate records, or that cannot change. */
  const patchedToo: Partial<Record<Resource, Readonly<Record<string, () => unknown>>>> = {
    users: { groups: () => some("groups") },
    groups: { users: () => some("users"), locations: () => some("locations") },
    products: {
      type: () => among("default", "variantParent"),
      parentUuid: () => among(one("products"), null),
      optionValues: () => among([{ option: "size", value: among("s", "m", "l") }], null)
    },
    "meta-tags": { key: () => keyOf("meta-tags") },
    assets: { metaTags: () => [] }
  }

  /** Values that do not decode. */
  const spoiled = (fields: Fields): unknown => {
    const members = Object.keys(fields)
    const member = members.length === 0 ? "name" : pick(random, members)
    return among<unknown>(
      { ...fields, nmae: word() },
      { ...fields, [member]: among<unknown>({}, 12_345, "", null, [{}]) },
      { ...fields, nmae: 1, [member]: {} },
      null,
      [],
      "text"
    )
  }
  const perhapsSpoiled = (fields: Fields) => (maybe(fresh.isOn ? 0.01 : 0.06) ? spoiled(fields) : fields)

  const created = (resource: Resource): Fields => {
    const relating = resource === "groups" ? optional(0.15, patchedToo.groups!) : {}
    const fields = { ...optional(maybe(0.5) ? 0 : 0.25, all[resource]), ...relating, ...required[resource]() }
    return resource === "posts" ? { ...fields, ...optional(0.5, { slug: () => keyOf("posts") }) } : fields
  }
  const patched = (resource: Resource): Fields => ({
    // Records take the keys that others have, or had.
    ...optional(0.08, keys[resource] === undefined ? {} : { [keys[resource]]: word }),
    ...optional(maybe(0.6) ? 0.12 : 0.35, all[resource]),
    ...optional(0.04, patchedToo[resource] ?? {})
  })

  return {
    keyOf,
    /** Whether the next sequence has mostly valid data with new keys. */
    begin: (isFresh: boolean) => {
      fresh.isOn = isFresh
    },
    create: (resource: Resource): unknown => perhapsSpoiled(created(resource)),
    patch: (resource: Resource): unknown => perhapsSpoiled(patched(resource)),
    /** Mostly complete, so that it can create as well, and mostly without the key. */
    upsert: (resource: Resource): unknown => {
      const fields = maybe(0.7) ? { ...patched(resource), ...created(resource) } : patched(resource)
      const { [keys[resource] ?? ""]: _, ...withoutKey } = fields
      return perhapsSpoiled(withoutKey)
    }
  }
}
