/** Who may see what, by a model without a database: the rules of the specification, read literally. */

export type Action = "view" | "order" | "customize" | "download" | "publish"
export const actions: ReadonlyArray<Action> = ["view", "order", "customize", "download", "publish"]

interface Period {
  readonly from: number | null
  readonly until: number | null
}

export interface Given {
  readonly authorizationType: "everyone" | "groups" | "locations"
  readonly groups: ReadonlyArray<{ readonly uuid: string; readonly actions: ReadonlyArray<Action> }>
  readonly locations: ReadonlyArray<{ readonly uuid: string; readonly actions: ReadonlyArray<Action> }>
}

export interface Product extends Period {
  readonly uuid: string
  readonly type: "default" | "variantParent" | "variant"
  readonly parent: string | null
  readonly status: "draft" | "published" | "archived"
  readonly permissions?: Given
  readonly locations?: {
    readonly mode: "all" | "include" | "exclude"
    readonly locations: ReadonlyArray<string>
    readonly groups: ReadonlyArray<string>
  }
  readonly campaigns?: {
    readonly onlyDuringCampaign: boolean
    readonly campaigns: ReadonlyArray<Period & { readonly status: string }>
  }
}

export interface Post extends Period {
  readonly uuid: string
  readonly status: "draft" | "scheduled" | "published" | "archived"
  readonly audience: Given
}

export interface User {
  readonly uuid: string
  readonly status: "pending" | "active" | "suspended"
  readonly groups: ReadonlyArray<string>
  readonly locations: ReadonlyArray<string>
}

export interface Location {
  readonly uuid: string
  readonly groups: ReadonlyArray<string>
}

export interface World {
  readonly now: number
  readonly groups: ReadonlyArray<string>
  readonly users: ReadonlyArray<User>
  readonly locations: ReadonlyArray<Location>
  readonly products: ReadonlyArray<Product>
  readonly posts: ReadonlyArray<Post>
}

export interface Subject {
  readonly groups: ReadonlyArray<string>
  /** Its branches; a location is its own only one. */
  readonly locations: ReadonlyArray<string>
  readonly isActive: boolean
  readonly isUser: boolean
}

export const subjectOfUser = ({ groups, locations, status }: User): Subject => ({
  groups,
  locations,
  isActive: status === "active",
  isUser: true
})
export const subjectOfLocation = ({ groups, uuid }: Location): Subject => ({
  groups,
  locations: [uuid],
  isActive: true,
  isUser: false
})

const isNow = ({ now }: World, { from, until }: Period) =>
  (from === null || from <= now) && (until === null || now < until)

const isOut = (world: World, thing: Period & { readonly status: string }) =>
  thing.status === "published" && isNow(world, thing)

/** The entries that name a group or a location of the subject. */
const entriesFor = ({ groups, locations }: Subject, given: Given) =>
  given.authorizationType === "groups"
    ? given.groups.filter(({ uuid }) => groups.includes(uuid))
    : given.locations.filter(({ uuid }) => locations.includes(uuid))

const qualifies = ({ locations }: World, module: NonNullable<Product["locations"]>, uuid: string) => {
  const { groups } = locations.find((location) => location.uuid === uuid)!
  const isListed = module.locations.includes(uuid) || module.groups.some((group) => groups.includes(group))
  return module.mode === "all" || (module.mode === "include") === isListed
}

/** What the subject may do with the product; nothing if it may not see it. */
export const actionsOnProduct = (world: World, subject: Subject, product: Product): ReadonlyArray<Action> => {
  const parent = world.products.find(({ uuid }) => uuid === product.parent)
  const { campaigns, locations, permissions } = parent ?? product
  if (!subject.isActive || !isOut(world, product) || (parent !== undefined && !isOut(world, parent))) return []
  if (permissions === undefined) return []
  if (locations !== undefined && !subject.locations.some((uuid) => qualifies(world, locations, uuid))) return []
  const allowed =
    permissions.authorizationType === "everyone"
      ? actions
      : actions.filter((action) => entriesFor(subject, permissions).some((entry) => entry.actions.includes(action)))
  if (!allowed.includes("view")) return []
  const isCampaign = campaigns?.campaigns.some((one) => one.status === "active" && isNow(world, one)) === true
  return campaigns?.onlyDuringCampaign === true && !isCampaign ? allowed.filter((one) => one !== "order") : allowed
}

export const seesPost = (world: World, subject: Subject, post: Post): boolean =>
  subject.isActive &&
  isOut(world, post) &&
  (post.audience.authorizationType === "everyone" || entriesFor(subject, post.audience).length > 0)

/** A rule that was looked at, and whether it allows. */
export type Rule = readonly [code: string, isAllowed: boolean]

const ofUser = ({ isActive, isUser }: Subject): ReadonlyArray<Rule> => (isUser ? [["userState", isActive]] : [])

/** The rules of a product in their order. */
export const rulesOfProduct = (world: World, subject: Subject, product: Product): ReadonlyArray<Rule> => {
  const parent = world.products.find(({ uuid }) => uuid === product.parent)
  const { campaigns, locations, permissions } = parent ?? product
  const type = permissions?.authorizationType
  const isListing = type !== undefined && type !== "everyone" && permissions![type].length > 0
  const inCampaign = campaigns?.campaigns.some((one) => one.status === "active" && isNow(world, one)) === true
  return [
    ...ofUser(subject),
    ["productState", product.status === "published"],
    ["productDates", isNow(world, product)],
    ["permissionsModule", type === "everyone" || isListing],
    ...(isListing
      ? [[type, entriesFor(subject, permissions!).some(({ actions }) => actions.includes("view"))] as const]
      : []),
    ["locationsModule", locations === undefined || subject.locations.some((uuid) => qualifies(world, locations, uuid))],
    ["campaign", campaigns?.onlyDuringCampaign !== true || inCampaign],
    ...(parent === undefined ? [] : [["inheritance", isOut(world, parent)] as const])
  ]
}

/** The rules of a post in their order. */
export const rulesOfPost = (world: World, subject: Subject, post: Post): ReadonlyArray<Rule> => [
  ...ofUser(subject),
  ["postState", post.status === "published"],
  ["postDates", isNow(world, post)],
  ["audience", post.audience.authorizationType === "everyone" || entriesFor(subject, post.audience).length > 0]
]
