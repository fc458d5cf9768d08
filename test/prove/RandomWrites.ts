import { pick, type Random, randomOf } from "../support/Random.ts"
import type { Call, Called } from "../support/Service.ts"

/** The records that random writes know, by resource. */
const resources = [
  "users",
  "locations",
  "groups",
  "products",
  "posts",
  "assets",
  "asset-categories",
  "meta-tags",
  "api-keys"
] as const
type Resource = (typeof resources)[number]

/** Random writes by every path. Concurrent ones may conflict: what is rejected has to leave no trace. */
export class RandomWrites {
  readonly random: Random
  readonly statuses = new Map<number, number>()
  /** Answers that are no answer of a write: the connection broke. */
  broken = 0
  readonly #known = new Map<Resource, Array<string>>(resources.map((resource) => [resource, []]))
  readonly #keys = new Map<Resource, Array<string>>(resources.map((resource) => [resource, []]))
  readonly #files: Array<string>
  #count = 0
  readonly #prefix: string

  constructor(seed: number, files: ReadonlyArray<string>) {
    this.random = randomOf(seed)
    this.#files = [...files]
    this.#prefix = `s${seed}`
  }

  get writes() {
    return [...this.statuses.values()].reduce((sum, count) => sum + count, 0)
  }

  /** Sends one write. */
  async next(call: Call) {
    const steps = [
      () => this.#create(call),
      () => this.#create(call),
      () => this.#patch(call),
      () => this.#patch(call),
      () => this.#patch(call),
      () => this.#relate(call),
      () => this.#relate(call),
      () => this.#belonging(call),
      () => this.#belonging(call),
      () => this.#remove(call)
    ]
    const answer = await pick(this.random, steps)().catch(() => undefined)
    if (answer === undefined) this.broken++
    else this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1)
    return answer
  }

  #name(kind: string) {
    return `${kind}_${this.#prefix}_${++this.#count}`
  }

  #some(resource: Resource) {
    return pick(this.random, this.#known.get(resource)!) ?? "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"
  }

  #several(resource: Resource, max = 4) {
    const all = this.#known.get(resource)!
    return all.length === 0 ? [] : Array.from({ length: Math.floor(this.random() * max) }, () => pick(this.random, all))
  }

  #keyOf(resource: Resource) {
    return pick(this.random, this.#keys.get(resource)!)
  }

  async #create(call: Call): Promise<Called> {
    const resource = pick(this.random, resources)
    const key = this.#name(resource.replace("-", "_"))
    const file = resource === "assets" ? this.#files.pop() : undefined
    const [category, tag] = [this.#keyOf("asset-categories"), this.#keyOf("meta-tags")]
    const bodies: Readonly<Record<Resource, () => object>> = {
      users: () => ({
        username: key,
        email: `${key}@example.com`,
        ...(this.random() < 0.5 ? { groups: this.#several("groups"), locations: this.#several("locations") } : {})
      }),
      locations: () => ({ name: key, identifier: key, address: { city: "Utrecht" }, postalCodes: ["3511 AB"] }),
      groups: () => ({ name: key }),
      products: () => ({ type: "default", name: key, identifier: key }),
      posts: () => ({ type: "news", translations: [{ locale: "en", title: key }] }),
      assets: () => ({
        fileUuid: file,
        ...(category === undefined ? {} : { categories: [category] }),
        ...(tag === undefined ? {} : { metaTags: [{ key: tag, value: key }] })
      }),
      "asset-categories": () => ({ key }),
      "meta-tags": () => ({ key, type: "text", ...(category === undefined ? {} : { categories: [category] }) }),
      "api-keys": () => ({ name: key, permissions: ["read:locations"] })
    }
    const answer = await call("POST", `/v1/${resource}`, bodies[resource]())
    if (answer.status === 201) {
      this.#known.get(resource)!.push(answer.body.data.uuid)
      if (resource === "asset-categories" || resource === "meta-tags") this.#keys.get(resource)!.push(key)
    }
    return answer
  }

  async #patch(call: Call): Promise<Called> {
    const resource = pick(this.random, resources)
    const text = pick(this.random, ["a", "b", "c", null])
    const soon = new Date(Date.now() + 300).toISOString()
    const bodies: Readonly<Record<Resource, () => object>> = {
      users: () => ({ firstName: text, phone: text === null ? null : "+31301234567" }),
      locations: () => ({
        contact: { phone: text === null ? null : `+3130123${this.random().toFixed(4).slice(2)}` },
        locale: text === null ? null : "nl"
      }),
      groups: () => ({ description: text }),
      products: () => ({
        description: text,
        tags: text === null ? [] : [text],
        status: text === "a" ? "active" : "draft"
      }),
      posts: () =>
        text === "a"
          ? { status: "scheduled", publishAt: soon }
          : { tags: text === null ? null : [text], translations: [{ locale: "en", title: `T ${text}` }] },
      assets: () => ({
        translations: [{ locale: "en", name: `N ${text}` }],
        categories: [this.#keyOf("asset-categories")].filter((key) => key !== undefined && text !== null)
      }),
      "asset-categories": () => ({ position: Math.floor(this.random() * 3) }),
      "meta-tags": () => ({
        position: Math.floor(this.random() * 3),
        categories: text === null ? [] : [this.#keyOf("asset-categories")].filter((key) => key !== undefined)
      }),
      "api-keys": () => ({})
    }
    const uuid = this.#some(resource)
    return resource === "api-keys"
      ? call("POST", `/v1/api-keys/${uuid}/rotate`, { overlapSeconds: 100_000 })
      : call("PATCH", `/v1/${resource}/${uuid}`, bodies[resource]())
  }

  #relate(call: Call): Promise<Called> {
    const sides = ["users", "locations", "groups"] as const
    const owner = pick(this.random, sides)
    const member = pick(
      this.random,
      sides.filter((side) => side !== owner)
    )
    return call("PUT", `/v1/${owner}/${this.#some(owner)}/${member}`, { [member]: this.#several(member, 8) })
  }

  /** What belongs to a record and is written by operations of its own. */
  #belonging(call: Call): Promise<Called> {
    const [product, location, asset] = [this.#some("products"), this.#some("locations"), this.#some("assets")]
    const amountMinor = Math.floor(this.random() * 5)
    const tag = this.#keyOf("meta-tags")
    const writes: ReadonlyArray<() => Promise<Called>> = [
      () => call("PUT", `/v1/products/${product}/modules/price`, { model: "fixed", amountMinor }),
      () => call("DELETE", `/v1/products/${product}/modules/price`),
      () => call("PUT", `/v1/products/${product}/modules/locations`, { locations: this.#several("locations") }),
      () => call("PUT", `/v1/products/${product}/modules/stock`, {}),
      () =>
        call("PUT", `/v1/locations/${location}/media`, {
          ...(amountMinor > 2 ? { logo: { assetUuid: asset } } : {}),
          items: amountMinor > 1 ? [{ assetUuid: asset, role: "other" }] : []
        }),
      () =>
        call("PUT", `/v1/locations/${location}/translation-labels`, {
          translationLabels: amountMinor > 2 ? [{ locale: "en", key: "extraDna1", label: `Label ${amountMinor}` }] : []
        }),
      () =>
        call("PATCH", `/v1/assets/${asset}/meta-tags`, {
          metaTags: [{ key: tag ?? "none", value: `V ${amountMinor}` }]
        })
    ]
    return pick(this.random, writes)()
  }

  async #remove(call: Call): Promise<Called> {
    const resource = pick(this.random, resources)
    const known = this.#known.get(resource)!
    const index = Math.floor(this.random() * known.length)
    const uuid = known[index] ?? "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"
    const answer = await call("DELETE", `/v1/${resource}/${uuid}${resource === "assets" ? "?force=true" : ""}`)
    if (answer.status === 200 || answer.status === 404) known.splice(known.indexOf(uuid), known.includes(uuid) ? 1 : 0)
    return answer
  }
}
