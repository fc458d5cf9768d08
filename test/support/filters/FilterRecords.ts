import type { Samples } from "./FilterSamples.ts"

type Fields = Readonly<Record<string, unknown>>

/** Bodies that create records, with many optional members unset. */
export const make = ({ below, chance, instant, maybe, pick, random, text }: Samples) => {
  const address = () => ({
    addressLine1: maybe(text),
    addressLine2: maybe(text),
    attentionOf: maybe(text),
    city: maybe(text),
    zone: maybe(text),
    countryCode: maybe(() => pick(["NL", "nl", "DE", "TR", "GR"])),
    zipcode: maybe(() => pick(["3511 AB", "3511", "İ_%", "ab\\c"]))
  })
  const coordinate = (bound: number) =>
    pick([
      0,
      bound,
      -bound,
      Math.round((random() * 2 - 1) * bound * 10) / 10,
      Number(((random() * 2 - 1) * bound).toFixed(7))
    ])
  const postalCodes = Array.from({ length: 12 }, () => `${1000 + below(9000)} ${pick(["AB", "ab", "Zx", "-1"])}`)

  const location = (index: number) => ({
    name: text(),
    identifier: `${pick(["UTR", "utr", "ΣΑΣ", "a_%", "b\\", "c,d", "e:f"])}-${index}`,
    postalCodes: Array.from({ length: below(4) }, () => pick(postalCodes)),
    address: maybe(address),
    legal: maybe(() => ({ address: maybe(address) })),
    invoice: maybe(() => ({
      name: maybe(text),
      email: maybe(() => `${pick(["Info", "info", "jörg"])}@${pick(["Example.com", "exämple.de"])}`),
      address: maybe(address)
    })),
    contact: maybe(() => ({
      email: maybe(() => `${pick(["a", "B"])}+x%@example.com`),
      website: maybe(() => pick(["https://example.com/a_b?c=%20", "http://EXAMPLE.com/"])),
      phone: maybe(() => pick(["+31 30 123 45 67", "(030) 1.2-3/4"])),
      firstName: maybe(text)
    })),
    coordinates: maybe(() => ({ latitude: coordinate(90), longitude: coordinate(180) })),
    locale: maybe(() => pick(["nl-NL", "tr", "sr-Latn-RS"])),
    status: maybe(() => pick(["open", "temporarilyClosed", "permanentlyClosed"])),
    timezone: pick(["Europe/Amsterdam", "America/New_York"]),
    openingHours: maybe(() =>
      [1, 2, 3]
        .filter(() => chance(0.5))
        .map((day) => ({ day: day + below(2) * 3, opens: pick(["08:00", "09:30"]), closes: pick(["17:00", "02:00"]) }))
    ),
    specialHours: maybe(() =>
      ["2026-12-25", "2027-01-01"]
        .filter(() => chance(0.5))
        .map((date) => ({
          date,
          label: maybe(text),
          periods: chance(0.5) ? [] : [{ opens: "10:00", closes: "14:00" }]
        }))
    ),
    other: maybe(() => ({
      extraDna1: maybe(text),
      extraDna3: maybe(() => `${text()}\n\t${text()}`),
      extraDna10: maybe(text)
    }))
  })

  /** A unique identifier. */
  const identifier = (index: number) => `${pick(["UTR", "utr", "ΣΑΣ", "a_%", "b\\", "c,d", "e:f"])}-${index}`
  const some = (values: ReadonlyArray<string>, max = 3) => Array.from({ length: below(max + 1) }, () => pick(values))
  const locales = ["en", "nl", "nl-BE", "de", "tr", "sr-Latn-RS"]
  const translations = (least: number, fields: () => Fields) => {
    const count = least + below(3)
    const start = below(locales.length - count + 1)
    return locales.slice(start, start + count).map((locale) => ({ locale, ...fields() }))
  }
  const between = () => {
    const [from, until] = [instant(), instant()].toSorted()
    return from === until ? {} : { from, until }
  }

  const user = (index: number, locations: ReadonlyArray<string>) => ({
    // A user name has no invisible characters, such as joiners between emoji.
    username: `${text().replaceAll("\u200d", "")}-${index}`,
    email: `${pick(["Info", "info", "jörg", "a+x%"])}${index}@${pick(["Example.com", "exämple.de"])}`,
    firstName: maybe(text),
    lastName: maybe(text),
    status: pick(["pending", "active", "suspended"]),
    role: pick(["ROLE_USER", "ROLE_MANAGER", "ROLE_ADMIN"]),
    languageCode: pick(["nl", "EN", "tr"]),
    countryCode: maybe(() => pick(["NL", "de", "TR"])),
    phone: maybe(() => pick(["+31 30 123 45 67", "(030) 1.2-3/4"])),
    externalId: maybe(() => identifier(index)),
    locations: some(locations)
  })

  const group = (index: number, users: ReadonlyArray<string>, locations: ReadonlyArray<string>) => ({
    name: `${text()} ${index}`,
    description: maybe(() => `${text()}\n\t${text()}`),
    externalId: maybe(() => identifier(index)),
    users: some(users, 5),
    locations: some(locations, 5)
  })

  const product = (index: number, parents: ReadonlyArray<string>) => {
    const { from, until } = between()
    const type = index < 10 ? "variantParent" : pick(["default", "variant"])
    return {
      type,
      ...(type === "variant"
        ? {
            parentUuid: pick(parents),
            optionValues: [{ option: "size", value: `a${index}` }].concat(
              pick([[], [{ option: "ink", value: pick(["red", "blue_1"]) }]])
            )
          }
        : {}),
      identifier: identifier(index),
      name: text(),
      description: maybe(text),
      translations: translations(0, () => ({ name: text(), description: maybe(text) })),
      status: pick(["draft", "draft", "published"]),
      categories: some(["flyers", "Flyers", "50%_", "a,b"]),
      tags: some(["neu", "İ", "ΣΑΣ", "x:y"]),
      visibleFrom: from,
      visibleUntil: until,
      position: below(5)
    }
  }

  interface Others {
    readonly users: ReadonlyArray<string>
    readonly groups: ReadonlyArray<string>
    readonly locations: ReadonlyArray<string>
    readonly assets: ReadonlyArray<string>
  }
  const uuids = (list: ReadonlyArray<string>) => [...new Set(list)].map((uuid) => ({ uuid }))
  const post = (index: number, { assets, groups, locations, users }: Others) => {
    const { from, until } = between()
    return {
      type: pick(["news", "announcement", "social", "page"]),
      slug: chance(0.5) ? `post-${index}` : undefined,
      translations: translations(1, () => ({
        title: text(),
        excerpt: maybe(text),
        body: maybe(() => `<p>${text()} &amp; <b>${text()}</b></p>`)
      })),
      author: maybe(() => ({ uuid: pick(users) })),
      coverAssetUuid: maybe(() => pick(assets)),
      mediaAssetUuids: [...new Set(some(assets))],
      categories: some(["news", "50%_", "a,b"]),
      tags: some(["neu", "İ", "x:y"]),
      audience: {
        authorizationType: pick(["everyone", "groups", "locations"]),
        groups: uuids(some(groups)),
        locations: uuids(some(locations))
      },
      callToAction: maybe(() => ({ type: pick(["learnMore", "order"]), url: "https://example.com/a_b?c=%20" })),
      pinned: chance(0.3),
      // Due posts are published, and expired ones archived, before any filter is sent.
      ...(from === undefined ? {} : { publishAt: from, status: "scheduled" }),
      ...(chance(0.5) ? { expireAt: until } : {})
    }
  }

  const asset = () => {
    const { from, until } = between()
    return {
      translations: translations(1, () => ({ name: text(), description: maybe(() => `${text()}\n\t${text()}`) })),
      categories: [...new Set(some(["logos", "photos"]))],
      metaTags: [
        { key: "season", value: pick(["spring", "autumn"]) },
        { key: "caption", value: text() },
        { key: "year", value: 2020 + below(6) },
        { key: "shotOn", value: instant() }
      ].filter(() => chance(0.5)),
      ...(chance(0.5) ? { validFrom: from, validUntil: until } : {}),
      focalPoint: maybe(() => ({ x: pick([0, 0.25, 1]), y: below(10_000) / 10_000 }))
    }
  }
  /** A file name with an extension. */
  const fileName = () => `${text().replaceAll(/[\\/]/g, "")}.${pick(["pdf", "PNG", "txt", "zip"])}`

  return { location, user, group, product, post, asset, fileName }
}
