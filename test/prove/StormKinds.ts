import { Effect } from "effect"
import { upload } from "../support/requests/AssetRequests.ts"
import { unique } from "../support/requests/Requests.ts"
import type { TestServer } from "../support/TestServer.ts"

/** Chance, the same for the same seed. */
export interface Dice {
  readonly below: (limit: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(values: ReadonlyArray<A>) => A
}

type Body = Readonly<Record<string, unknown>>

/** A kind of record that comes, changes and goes. */
export interface Kind {
  readonly path: string
  readonly create: (dice: Dice) => Effect.Effect<Body, never, TestServer>
  /** A change of a field of its own. */
  readonly patch: (dice: Dice) => Body
  /** What a deletion may ask for. */
  readonly deletions?: ReadonlyArray<string>
}

/** Names that must be unique and that many records want at once, so that they wait for each other. */
const wanted = ({ below }: Dice) => `wanted-${below(6)}`

const created =
  (body: () => Body): Kind["create"] =>
  () =>
    Effect.sync(body)

/** Every kind of record that names others, or is named by them. */
export const kinds = {
  users: {
    path: "/v1/users",
    create: created(() => {
      const username = unique("user")
      return { username, email: `${username}@example.com` }
    }),
    patch: (dice) =>
      dice.pick([{ firstName: "Anna" }, { username: wanted(dice), email: `${wanted(dice)}@example.com` }])
  },
  groups: {
    path: "/v1/groups",
    create: created(() => ({ name: unique("Group") })),
    patch: (dice) => dice.pick([{ description: "North" }, { name: wanted(dice), externalId: wanted(dice) }])
  },
  locations: {
    path: "/v1/locations",
    create: created(() => ({ name: "Branch", identifier: unique("branch") })),
    patch: (dice) => dice.pick([{ other: { extraDna1: dice.pick(["a", null]) } }, { identifier: wanted(dice) }])
  },
  products: {
    path: "/v1/products",
    create: created(() => ({ type: "default", name: "Flyer", identifier: unique("product") })),
    patch: (dice) =>
      dice.pick([{ identifier: wanted(dice) }, { status: dice.pick(["draft", "published", "archived"]) }])
  },
  parents: {
    path: "/v1/products",
    create: created(() => ({ type: "variantParent", name: "Flyers", identifier: unique("parent") })),
    patch: ({ pick }) => ({ position: pick([1, 2, 3]) })
  },
  posts: {
    path: "/v1/posts",
    create: created(() => ({ type: "news", translations: [{ locale: "en", title: unique("Post") }] })),
    patch: (dice) => dice.pick([{ pinned: dice.chance(0.5) }, { slug: wanted(dice) }])
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
    patch: (dice) => dice.pick([{ position: dice.below(3) }, { key: wanted(dice) }])
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
