import type { Dice, KindName } from "./StormKinds.ts"

/** A request that links or unlinks records of two kinds. */
export interface Link {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  readonly body?: unknown
}

/** Chooses the records of a link. */
export interface Pick extends Dice {
  /** One of the records of a kind, which may have been deleted. */
  readonly one: (kind: KindName) => string
  /** Zero to three of the records of a kind. */
  readonly some: (kind: KindName) => ReadonlyArray<string>
}

/** Two kinds and the requests that link them. */
export interface Pair {
  readonly kinds: readonly [KindName, KindName]
  readonly links: ReadonlyArray<(pick: Pick) => Link>
}

const put = (path: string, body: unknown): Link => ({ method: "PUT", path, body })
const patch = (path: string, body: unknown): Link => ({ method: "PATCH", path, body })
const post = (path: string, body: unknown): Link => ({ method: "POST", path, body })

const uuids = (list: ReadonlyArray<string>) => list.map((uuid) => ({ uuid }))

/** Relations that can be replaced from either side. */
const belonging = (a: "users" | "groups" | "locations", b: "users" | "groups" | "locations"): Pair => ({
  kinds: [a, b],
  links: [
    ({ one, some }) => put(`/v1/${a}/${one(a)}/${b}`, { [b]: some(b) }),
    ({ one, some }) => put(`/v1/${b}/${one(b)}/${a}`, { [a]: some(a) }),
    ({ one, some }) =>
      a === "groups"
        ? patch(`/v1/groups/${one("groups")}`, { [b]: some(b) })
        : b === "groups"
          ? patch(`/v1/groups/${one("groups")}`, { [a]: some(a) })
          : put(`/v1/${a}/${one(a)}/${b}`, { [b]: [] })
  ]
})

/** Requests that activate a product module that references records, or deactivate it. */
const module = (name: string, settings: (pick: Pick) => unknown): Pair["links"] => [
  (pick) => put(`/v1/products/${pick.one("products")}/modules/${name}`, settings(pick)),
  (pick) => put(`/v1/products/${pick.one("products")}/modules/${name}`, settings(pick)),
  ({ one }) => ({ method: "DELETE", path: `/v1/products/${one("products")}/modules/${name}` })
]

const named = (name: string, value: (pick: Pick) => unknown): Pair["links"] => [
  (pick) => patch(`/v1/posts/${pick.one("posts")}`, { [name]: value(pick) })
]

let combination = 0

/** Every pair of kinds of which one references the other. */
export const pairs: ReadonlyArray<Pair> = [
  belonging("users", "locations"),
  belonging("users", "groups"),
  belonging("groups", "locations"),
  {
    kinds: ["locations", "assets"],
    links: [
      ({ one, some, pick }) =>
        put(`/v1/locations/${one("locations")}/media`, {
          items: some("assets").map((assetUuid) => ({ assetUuid, role: pick(["menu", "team"]) })),
          ...pick([{}, { logo: { assetUuid: one("assets") } }])
        })
    ]
  },
  {
    kinds: ["products", "assets"],
    links: module("files", ({ some }) => ({
      files: some("assets").map((assetUuid) => ({ assetUuid, role: "preview" }))
    }))
  },
  {
    kinds: ["products", "locations"],
    links: [
      ...module("locations", ({ some }) => ({ mode: "include", locations: uuids(some("locations")) })),
      ...module("permissions", ({ some }) => ({
        authorizationType: "locations",
        locations: some("locations").map((uuid) => ({ uuid, actions: ["view"] }))
      })),
      ...module("distribution", ({ some }) => ({
        allocationMode: "explicit",
        allocations: some("locations").map((locationUuid) => ({ locationUuid, quantity: 1 }))
      }))
    ]
  },
  {
    kinds: ["products", "groups"],
    links: [
      ...module("locations", ({ some }) => ({ mode: "exclude", groups: uuids(some("groups")) })),
      ...module("permissions", ({ some }) => ({
        groups: some("groups").map((uuid) => ({ uuid, actions: ["order"] }))
      }))
    ]
  },
  {
    kinds: ["products", "users"],
    links: module("workflow", ({ one }) => ({
      name: "Four eyes",
      steps: [{ name: "Check", approvers: { type: "users", uuids: [one("users"), one("users")] } }]
    }))
  },
  {
    kinds: ["parents", "products"],
    links: [
      ({ one }) =>
        post("/v1/products", {
          type: "variant",
          name: "Variant",
          identifier: `variant-${++combination}`,
          parentUuid: one("parents"),
          optionValues: [{ option: "size", value: `a${combination}` }]
        }),
      ({ one }) => patch(`/v1/products/${one("products")}`, { parentUuid: one("parents") }),
      ({ one }) =>
        put(`/v1/products/${one("parents")}/modules/variants`, {
          options: [{ key: "size", values: [{ key: "a1" }] }],
          defaultVariantUuid: one("products")
        })
    ]
  },
  { kinds: ["posts", "users"], links: named("author", ({ one, pick }) => pick([{ uuid: one("users") }, null])) },
  {
    kinds: ["posts", "assets"],
    links: [
      ...named("coverAssetUuid", ({ one, pick }) => pick([one("assets"), null])),
      ...named("mediaAssetUuids", ({ some }) => some("assets"))
    ]
  },
  { kinds: ["posts", "groups"], links: named("audience", ({ some }) => ({ groups: uuids(some("groups")) })) },
  { kinds: ["posts", "locations"], links: named("audience", ({ some }) => ({ locations: uuids(some("locations")) })) },
  {
    kinds: ["assets", "categories"],
    links: [({ one, some }) => patch(`/v1/assets/${one("assets")}`, { categories: some("categories") })]
  },
  {
    kinds: ["assets", "metaTags"],
    links: [
      ({ one, some, pick }) =>
        patch(`/v1/assets/${one("assets")}/meta-tags`, {
          metaTags: some("metaTags").map((uuid) => ({ uuid, value: pick(["a", "b", null]) }))
        })
    ]
  },
  {
    kinds: ["metaTags", "categories"],
    links: [({ one, some }) => patch(`/v1/meta-tags/${one("metaTags")}`, { categories: some("categories") })]
  },
  {
    kinds: ["categories", "categories"],
    links: [
      ({ one, pick }) =>
        patch(`/v1/asset-categories/${one("categories")}`, { parentUuid: pick([one("categories"), null]) })
    ]
  }
]
