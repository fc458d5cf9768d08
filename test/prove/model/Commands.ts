import { Arbitrary, Schema } from "effect"

/** References a record by number: one that exists or existed. */
const ref = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 23 }))
const refs = Schema.Array(ref).check(Schema.isMaxLength(3))

const oneOf = <const A extends ReadonlyArray<string | number | boolean>>(...values: A) => Schema.Literals(values)
const maybe = Schema.optionalKey
/** Sent, cleared or left out. */
const clearable = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const word = oneOf("Anna", "İstanbul", "100%_", "a\\b", "Straße", "e\u0301", "東京", "🥐", '"x", y:z')
const day = oneOf("2090-01-01T00:00:00.000Z", "2091-01-01T00:00:00.000Z", "2092-06-30T23:59:59.999Z")
const locale = oneOf("en", "nl", "nl_be", "de")
const words = Schema.Array(word).check(Schema.isMaxLength(3))

const address = Schema.Struct({ city: clearable(word), zone: clearable(word) })
const bodies = {
  locations: {
    required: { name: word, identifier: oneOf("U-1", "u-1", "U-2", "U-3", "U-4", "U-5", "ΣΑΣ", "σας") },
    optional: {
      address: clearable(address),
      invoice: clearable(Schema.Struct({ name: clearable(word), address: clearable(address) })),
      coordinates: clearable(
        Schema.Struct({ latitude: clearable(oneOf(0, -90, 52.1)), longitude: clearable(oneOf(0, 5.1)) })
      ),
      locale: clearable(oneOf("nl-NL", "tr", "zz-ZZ")),
      other: clearable(Schema.Struct({ extraDna1: clearable(word), extraDna10: clearable(word) })),
      postalCodes: clearable(Schema.Array(oneOf("3511 AB", "1000", "3511 AB")).check(Schema.isMaxLength(3)))
    }
  },
  users: {
    required: {
      username: oneOf("anna", "ANNA", "bea", "cem", "dan", "eva", "ΣΑΣ", "σας"),
      email: oneOf("a@example.com", "A@Example.com", "b@x.nl", "c@x.nl", "d@x.nl", "e@x.nl", "f@x.nl")
    },
    optional: {
      firstName: clearable(word),
      externalId: clearable(oneOf("1", "2")),
      status: maybe(oneOf("pending", "active", "suspended")),
      languageCode: maybe(oneOf("nl", "en", "qq"))
    }
  },
  groups: {
    required: { name: oneOf("North", "NORTH", "South", "East", "West", "Straße", "STRASSE") },
    optional: {
      description: clearable(word),
      externalId: clearable(oneOf("1", "2")),
      users: maybe(refs),
      locations: maybe(refs)
    }
  },
  products: {
    required: { name: word, identifier: oneOf("F-1", "F-2", "f-2", "F-3", "F-4", "F-5", "F-6") },
    optional: {
      description: clearable(word),
      status: maybe(oneOf("draft", "published", "archived")),
      tags: clearable(words),
      position: maybe(oneOf(0, 3, 7)),
      visibleFrom: clearable(day),
      visibleUntil: clearable(day),
      parent: maybe(ref),
      size: maybe(oneOf("a4", "a5"))
    }
  },
  posts: {
    required: {
      slug: oneOf("spring", "summer", "autumn", "winter", "may", "june"),
      type: oneOf("news", "page"),
      translations: Schema.Array(Schema.Struct({ title: word, excerpt: maybe(word) })).check(
        Schema.isMinLength(1),
        Schema.isMaxLength(2)
      )
    },
    optional: {
      status: maybe(oneOf("draft", "scheduled", "published")),
      author: clearable(ref),
      cover: clearable(ref),
      media: maybe(refs),
      audience: maybe(
        Schema.Struct({
          authorizationType: maybe(oneOf("everyone", "groups")),
          groups: maybe(refs),
          locations: maybe(refs)
        })
      ),
      tags: clearable(words),
      pinned: maybe(Schema.Boolean),
      publishAt: clearable(day),
      expireAt: clearable(day)
    }
  },
  assets: {
    required: {},
    optional: {
      file: maybe(ref),
      translations: maybe(
        Schema.Array(Schema.Struct({ locale, name: clearable(word), description: clearable(word) })).check(
          Schema.isMaxLength(2)
        )
      ),
      validFrom: clearable(day),
      validUntil: clearable(day),
      focalPoint: clearable(Schema.Struct({ x: clearable(oneOf(0, 0.5)), y: clearable(oneOf(1, 0.25)) }))
    }
  }
} as const

export type Kind = keyof typeof bodies
export const kinds = Object.keys(bodies) as ReadonlyArray<Kind>

/** A body that the type does not describe further. */
export type Body = Readonly<Record<string, unknown>>

export type Command =
  | {
      readonly op: "create"
      readonly kind: Kind
      readonly type: "default" | "variantParent" | "variant"
      readonly body: Body
    }
  | { readonly op: "patch"; readonly kind: Kind; readonly target: number; readonly body: Body }
  | { readonly op: "delete"; readonly kind: Kind; readonly target: number; readonly force: boolean }
  | { readonly op: "link"; readonly pair: number; readonly target: number; readonly members: ReadonlyArray<number> }
  | { readonly op: "media"; readonly target: number; readonly items: ReadonlyArray<number>; readonly logo?: number }
  | {
      readonly op: "putModule"
      readonly module: "locations" | "stock"
      readonly target: number
      readonly mode: "all" | "include" | "exclude"
      readonly locations: ReadonlyArray<number>
      readonly groups: ReadonlyArray<number>
    }
  | { readonly op: "deleteModule"; readonly module: "locations" | "stock"; readonly target: number }
  | { readonly op: "upload"; readonly name: string }

const of = <Fields extends Schema.Struct.Fields>(fields: Fields) => Arbitrary.schema(Schema.Struct(fields))

/** Every member of a patch is optional, and some patches clear a required member. */
const patchable = (kind: Kind) => {
  const { optional, required } = bodies[kind]
  const members = Object.entries(required).map(([name, schema]) => [
    name,
    name === "name" ? clearable(schema as Schema.Top) : maybe(schema as Schema.Top)
  ])
  return Schema.Struct({ ...Object.fromEntries(members), ...optional })
}

const creations = kinds.map((kind) =>
  of({
    op: oneOf("create"),
    kind: oneOf(kind),
    type: oneOf("default", "variantParent", "variant"),
    body: Schema.Struct({ ...bodies[kind].required, ...bodies[kind].optional })
  })
)
const patches = kinds.map((kind) =>
  of({
    op: oneOf("patch"),
    kind: oneOf(kind),
    target: ref,
    body: patchable(kind) as Schema.Struct<Schema.Struct.Fields>
  })
)
const upload = of({ op: oneOf("upload"), name: oneOf("logo.PNG", "price list.pdf", "İ.txt") })
const link = of({
  op: oneOf("link"),
  pair: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 })),
  target: ref,
  members: refs
})
const module = oneOf("locations", "stock")

const all: ReadonlyArray<Arbitrary.Arbitrary<unknown>> = [
  ...creations,
  ...creations,
  ...patches,
  upload,
  upload,
  link,
  link,
  of({ op: oneOf("delete"), kind: oneOf(...kinds), target: ref, force: Schema.Boolean }),
  of({ op: oneOf("delete"), kind: oneOf(...kinds), target: ref, force: Schema.Boolean }),
  of({ op: oneOf("media"), target: ref, items: refs, logo: maybe(ref) }),
  of({
    op: oneOf("putModule"),
    module,
    target: ref,
    mode: oneOf("all", "include", "exclude"),
    locations: refs,
    groups: refs
  }),
  of({ op: oneOf("deleteModule"), module, target: ref })
]

const command = Arbitrary.flatMap(
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: all.length - 1 }))),
  (index) => all[index] as Arbitrary.Arbitrary<Command>
)

/** The commands before a sequence begins. */
export const beginning: ReadonlyArray<Command> = [
  { op: "upload", name: "logo.PNG" },
  { op: "upload", name: "price list.pdf" },
  { op: "upload", name: "İ.txt" },
  ...(
    [
      ["locations", { name: "Utrecht", identifier: "U-0" }],
      ["users", { username: "zoë", email: "z@example.com" }],
      ["groups", { name: "Centre", users: [0], locations: [0] }],
      ["assets", { file: 0 }],
      ["assets", { file: 1 }],
      ["products", { name: "Flyers", identifier: "F-0" }],
      ["posts", { slug: "zero", type: "news", translations: [{ title: "Zero" }], author: 0, cover: 0, media: [1] }]
    ] as const
  ).map(([kind, body]) => ({ op: "create" as const, kind, type: "variantParent" as const, body }))
]

/** A list of `length` commands. */
export const sequence = (length: number) => Arbitrary.array(command, { minLength: length, maxLength: length })
