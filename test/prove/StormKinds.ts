import { Effect } from "effect"
import { upload } from "../support/requests/AssetRequests.ts"
import { unique } from "../support/requests/Requests.ts"
import type { TestServer } from "../support/TestServer.ts"

/** Seeded random choices. */
export interface Dice {
  readonly below: (limit: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(values: ReadonlyArray<A>) => A
}

type Body = Readonly<Record<string, unknown>>

/** A kind of record that is created, changed and deleted. */
export interface Kind {
  readonly path: string
  readonly create: (dice: Dice) => Effect.Effect<Body, never, TestServer>
  /** A change of a field that is not a reference. */
  readonly patch: (dice: Dice) => Body
  /** Query strings for DELETE. */
  readonly deletions?: ReadonlyArray<string>
}

/** Unique names that many records compete for, so that their transactions wait for each other. */
const contested = ({ below }: Dice) => `contested-${below(6)}`

const created =
  (body: () => Body): Kind["create"] =>
  () =>
    Effect.sync(body)

/** Every kind of record that references others or is referenced. */
export const kinds = {
  users: {
    path: "/v1/users",
    create: created(() => {
      const username = unique("user")
      return { username, email: `${username}@example.com` }
    }),
    patch: (dice) =>
      dice.pick([{ firstName: "Anna" }, { username: contested(dice), email: `${contested(dice)}@example.com` }])
  },
  groups: {
    path: "/v1/groups",
    create: created(() => ({ name: unique("Group") })),
    patch: (dice) => dice.pick([{ description: "North" }, { name: contested(dice), externalId: contested(dice) }])
  },
  locations: {
    path: "/v1/locations",
    create: created(() => ({ name: "Branch", identifier: unique("branch") })),
    patch: (dice) => dice.pick([{ other: { extraDna1: dice.pick(["a", null]) } }, { identifier: contested(dice) }])
  },
  products: {
    path: "/v1/products",
    create: created(() => ({ type: "default", name: "Flyer", identifier: unique("product") })),
    patch: (dice) =>
      dice.pick([{ identifier: contested(dice) }, { status: dice.pick(["draft", "published", "archived"]) }])
  },
  parents: {
    path: "/v1/products",
    create: created(() => ({ type: "variantParent", name: "Flyers", identifier: unique("parent") })),
    patch: ({ pick }) => ({ position: pick([1, 2, 3]) })
  },
  posts: {
    path: "/v1/posts",
    create: created(() => ({ type: "news", translations: [{ locale: "en", title: unique("Post") }] })),
    patch: (dice) => dice.pick([{ pinned: dice.chance(0.5) }, { slug: contested(dice) }])
  },
  assets: {
    path: "/v1/assets",
    create: () => Effect.map(upload(), (fileUuid) => ({ fileUuid })),
    patch: ({ pick }) => ({ translations: [{ locale: "en", name: pick(["Poster", "Logo"]) }] }),
    deletions: ["", "?force=false", "?force=true"]
  },
  categories: {
    path: "/v1/asset-categories",
    create: created(() => ({ key: unique("category") })),
    patch: (dice) => dice.pick([{ position: dice.below(3) }, { key: contested(dice) }])
  },
  metaTags: {
    path: "/v1/meta-tags",
    create: created(() => ({
      key: unique("tag").replace("-", ""),
      type: "select",
      options: [{ key: "a" }, { key: "b" }]
    })),
    patch: ({ pick }) => ({
      searchable: pick([true, false]),
      options: pick([[{ key: "a" }], [{ key: "a" }, { key: "b" }]])
    })
  }
} as const satisfies Readonly<Record<string, Kind>>

export type KindName = keyof typeof kinds
