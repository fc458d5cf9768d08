import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import { pick, type Random } from "../Random.ts"
import { fileRow } from "../requests/AssetRequests.ts"
import { send, unique, unknownUuid } from "../requests/Requests.ts"

const kinds = ["users", "locations", "groups", "products", "posts", "assets", "meta-tags", "asset-categories"] as const
type Kind = (typeof kinds)[number]

/** The records that writers create and refer to, with their keys where they have some. */
export interface Known {
  readonly uuids: Record<Kind, Array<string>>
  readonly keys: { readonly categories: Array<string>; readonly metaTags: Array<string> }
  /** The parents of variants. */
  readonly parents: Array<string>
  /** The records that were deleted. */
  readonly deleted: Array<readonly [Kind, string]>
  /** Writes that were accepted, and how many of them by operations that few do. */
  accepted: number
  readonly rare: Record<"restore" | "erase" | "erase-history" | "bulk" | "apply", number>
}

export const nothing = (): Known => ({
  uuids: {
    users: [],
    locations: [],
    groups: [],
    products: [],
    posts: [],
    assets: [],
    "meta-tags": [],
    "asset-categories": []
  },
  keys: { categories: [], metaTags: [] },
  parents: [],
  deleted: [],
  accepted: 0,
  rare: { restore: 0, erase: 0, "erase-history": 0, bulk: 0, apply: 0 }
})

type Body = Readonly<Record<string, unknown>>

interface Outcome {
  readonly index: number
  readonly status: number
  readonly uuid?: string
}

/** Random writes by every path of the API; some are rejected, and none may fail. */
export const make = (known: Known, random: Random) => {
  const some = (kind: Kind) =>
    known.uuids[kind].length === 0 ? unknownUuid : pick(random, known.uuids[kind].slice(-40))
  const several = (kind: Kind) => [...new Set(Array.from({ length: Math.floor(random() * 5) }, () => some(kind)))]
  const named = (kind: Kind) => several(kind).map((uuid) => ({ uuid }))
  const maybe = (fields: Body): Body => (random() < 0.5 ? fields : {})
  const word = () => pick(random, ["Anna", "Straße", "東京", "x", "Noord"]) + Math.floor(random() * 1000)
  const option = () => ({ key: "red", translations: [{ locale: "en", label: word() }] })

  const author = () => maybe({ author: { uuid: some("users") } })
  const covers = () => ({
    ...maybe({ coverAssetUuid: some("assets") }),
    ...maybe({ mediaAssetUuids: several("assets") })
  })
  const audience = () =>
    maybe({ audience: { authorizationType: "groups", groups: named("groups"), locations: named("locations") } })
  const due = () => maybe({ status: "scheduled", publishAt: new Date(Date.now() - 1000).toISOString() })

  const creations: Readonly<Record<Kind, () => Effect.Effect<Body, unknown, Sql>>> = {
    users: () =>
      Effect.succeed({
        username: unique("u"),
        email: `${unique("u")}@example.com`,
        ...maybe({ groups: several("groups") }),
        ...maybe({ locations: several("locations") })
      }),
    locations: () => Effect.succeed({ name: word(), identifier: unique("l") }),
    groups: () =>
      Effect.succeed({ name: unique("g"), ...maybe({ users: several("users"), locations: several("locations") }) }),
    products: () =>
      Effect.sync(() => {
        const body = { name: word(), identifier: unique("p") }
        if (random() < 0.4) return { ...body, type: "variantParent" }
        return known.parents.length === 0
          ? { ...body, type: "default" }
          : {
              ...body,
              type: "variant",
              parentUuid: pick(random, known.parents),
              optionValues: [{ option: "size", value: unique("v") }]
            }
      }),
    posts: () =>
      Effect.succeed({
        type: "news",
        translations: [{ locale: "en", title: word() }],
        ...author(),
        ...covers(),
        ...audience(),
        ...due()
      }),
    assets: () =>
      Effect.map(fileRow(`${unique("f")}.png`, 1, pick(random, ["image/png", "text/plain"])), (fileUuid) => ({
        fileUuid,
        categories: known.keys.categories.slice(-2),
        ...maybe({ metaTags: known.keys.metaTags.slice(-1).map((key) => ({ key, value: "red" })) })
      })),
    "meta-tags": () =>
      Effect.sync(() => {
        const key = unique("m").replace("-", "_")
        known.keys.metaTags.push(key)
        return { key, type: "select", options: [option()], ...maybe({ categories: known.keys.categories.slice(-1) }) }
      }),
    "asset-categories": () =>
      Effect.sync(() => {
        const key = unique("c")
        known.keys.categories.push(key)
        return { key }
      })
  }

  const patches: Readonly<Record<Kind, () => Body>> = {
    users: () => ({ firstName: word() }),
    locations: () => ({ name: word(), ...maybe({ address: { city: word() } }) }),
    groups: () => ({ name: unique("g"), ...maybe({ users: several("users") }) }),
    products: () => ({
      name: word(),
      ...maybe(known.parents.length > 0 ? { parentUuid: pick(random, known.parents) } : {})
    }),
    posts: () => ({ ...author(), ...covers(), ...audience(), ...due(), pinned: random() < 0.5 }),
    assets: () => ({
      ...maybe({ translations: [{ locale: "nl", name: word() }] }),
      categories: known.keys.categories.slice(-3)
    }),
    "meta-tags": () => ({ position: Math.floor(random() * 9) }),
    "asset-categories": () => ({ ...maybe({ key: unique("c") }), position: Math.floor(random() * 9) })
  }

  const write = Effect.fnUntraced(function* (method: string, path: string, body?: Body) {
    const answer = yield* send(method, `/v1/${path}`, body === undefined ? {} : { body })
    if (answer.status >= 500) return yield* Effect.die(new Error(`${method} ${path}: ${answer.text}`))
    if (answer.status < 300 && method !== "GET") {
      known.accepted++
      const operation = path.slice(path.lastIndexOf("/") + 1)
      if (operation in known.rare) known.rare[operation as keyof Known["rare"]]++
    }
    return answer
  })

  const create = Effect.fnUntraced(function* (kind: Kind) {
    const body = yield* creations[kind]()
    const answer = yield* write("POST", kind, body)
    if (answer.status !== 201) return
    known.uuids[kind].push(answer.body.data.uuid)
    if (body["type"] === "variantParent") known.parents.push(answer.body.data.uuid)
  })

  const pairs: ReadonlyArray<readonly [Kind, Kind]> = [
    ["users", "groups"],
    ["users", "locations"],
    ["locations", "groups"],
    ["groups", "users"],
    ["groups", "locations"],
    ["locations", "users"]
  ]
  const relate = () => {
    const [owner, member] = pick(random, pairs)
    return write("PUT", `${owner}/${some(owner)}/${member}`, { [member]: several(member) })
  }
  const media = () => {
    const items = several("assets").map((assetUuid) => ({ assetUuid, role: "team" }))
    return write("PUT", `locations/${some("locations")}/media`, { items })
  }
  const newFile = Effect.fnUntraced(function* () {
    const fileUuid = yield* fileRow(`${unique("f")}.mp4`, 1, pick(random, ["video/mp4", "image/png"]))
    return yield* write("PATCH", `assets/${some("assets")}`, { fileUuid })
  })
  const value = () =>
    write("PATCH", `assets/${some("assets")}/meta-tags`, {
      metaTags: known.keys.metaTags.slice(-1).map((key) => ({ key, value: pick(random, ["red", null]) }))
    })
  const relabel = Effect.fnUntraced(function* () {
    const uuid = some("meta-tags")
    const { body, status } = yield* write("GET", `meta-tags/${uuid}`)
    if (status !== 200) return
    const options = [{ ...body.data.options[0], ...option() }]
    yield* write("PATCH", `meta-tags/${uuid}`, { options })
  })
  const module = () => {
    const product = known.parents.length > 0 && random() < 0.7 ? pick(random, known.parents) : some("products")
    const path = `products/${product}/modules/internal-comment`
    return random() < 0.6 ? write("PUT", path, {}) : write("DELETE", path)
  }
  const login = () => write("POST", `users/${some("users")}/logins`, {})
  const remove = Effect.fnUntraced(function* () {
    const kind = pick(random, kinds)
    const uuid = some(kind)
    const query = { assets: "?force=true", users: random() < 0.3 ? "?erase=true" : "" }[kind as string] ?? ""
    const { status } = yield* write("DELETE", `${kind}/${uuid}${query}`)
    if (status === 200) known.deleted.push([kind, uuid])
  })
  const restore = Effect.suspend(() => {
    const [kind, uuid] = pick(random, known.deleted.slice(-40)) ?? ["users", unknownUuid]
    return write("POST", `${kind}/${uuid}/restore`, {})
  })
  const erase = () =>
    random() < 0.5
      ? write("POST", `users/${some("users")}/erase`, {})
      : write("POST", `locations/${some("locations")}/erase-history`, { paths: ["name", "address"] })
  const bulk = Effect.fnUntraced(function* () {
    const kind = pick(random, kinds)
    const operations: Array<Body> = []
    for (let left = 1 + Math.floor(random() * 8); left > 0; left--) {
      const op = pick(random, ["create", "create", "update", "update", "delete"])
      const named = { op, uuid: some(kind) }
      operations.push(
        op === "create"
          ? { op, data: yield* creations[kind]() }
          : op === "update"
            ? { ...named, data: patches[kind]() }
            : named
      )
    }
    const mode = pick(random, ["atomic", "independent"])
    const { body, status } = yield* write("POST", `${kind}/bulk`, { mode, operations })
    if (status !== 200 || !body.applied) return
    for (const { index, status, uuid } of body.data as ReadonlyArray<Outcome>) {
      if (status === 201 && uuid !== undefined) known.uuids[kind].push(uuid)
      if (operations[index]!["op"] === "delete" && status === 200 && uuid !== undefined)
        known.deleted.push([kind, uuid])
    }
  })
  const plan = Effect.fnUntraced(function* () {
    const identifiers = Array.from({ length: 12 }, () => `planned-${Math.floor(random() * 60)}`)
    const rows = [...new Set(identifiers)].map((identifier) => ({ identifier, name: word() }))
    const answer = yield* send("POST", "/v1/plans?resource=locations", { body: rows })
    // A key has few plans at once.
    if (answer.status !== 201) return
    const { uuid } = answer.body.data
    const { status } = yield* write("POST", `plans/${uuid}/apply`, { force: true })
    if (status !== 200) yield* write("DELETE", `plans/${uuid}`)
  })

  /** Alters several records in one transaction that stays open, and undoes some of them. */
  const slowly = Effect.gen(function* () {
    const { pooled } = yield* Sql
    const isUndone = random() < 0.3
    const change = Effect.gen(function* () {
      yield* pooled`update users set first_name = ${word()}, edited_at = edited_at + interval '1 ms' where uuid = ${some("users")}::uuid`
      yield* pooled`select pg_sleep(${random() * 1.5}::float8)`
      yield* pooled`update locations set name = ${word()}, edited_at = edited_at + interval '1 ms' where uuid = ${some("locations")}::uuid`
      if (isUndone) return yield* Effect.fail("undone" as const)
    })
    // A lock that it waits for in vain ends it, as a rollback.
    yield* Effect.ignore(pooled.withTransaction(change))
  })

  const actions: ReadonlyArray<
    () => Effect.Effect<unknown, unknown, Effect.Services<ReturnType<typeof create>> | Sql>
  > = [
    ...Array.from({ length: 6 }, () => () => create(pick(random, kinds))),
    ...Array.from({ length: 5 }, () => () => {
      const kind = pick(random, kinds)
      return write("PATCH", `${kind}/${some(kind)}`, patches[kind]())
    }),
    relate,
    relate,
    media,
    newFile,
    value,
    relabel,
    module,
    module,
    login,
    remove,
    remove,
    () => restore,
    erase,
    bulk,
    bulk,
    () => (random() < 0.3 ? plan() : bulk())
  ]
  const next = Effect.suspend(() => (random() < 0.01 ? slowly : pick(random, actions)()))
  return { create, next, kinds }
}
