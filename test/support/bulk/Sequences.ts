import { Effect } from "effect"
import { pick, type Random } from "../Random.ts"
import { send, unknownUuid } from "../requests/Requests.ts"
import { keys, make as makeData, type Resource, resources } from "./Data.ts"
import type { Operation, Tag } from "./Operations.ts"
import type { Pair } from "./Pair.ts"

/** Operations that are sent together. */
export interface Sequence {
  readonly resource: Resource
  readonly isAtomic: boolean
  readonly operations: ReadonlyArray<Operation>
}

/** Random sequences of operations: many of them name the same records and keys, are guarded, or break a rule. */
export const make = ({ bulk, files, identities, single }: Pair, random: Random, longest: number) => {
  const uuids = Object.fromEntries(resources.map((resource) => [resource, new Array<string>()])) as unknown as Readonly<
    Record<Resource, Array<string>>
  >
  const data = makeData(random, { uuids, files })
  const tags = new Map<string, Tag>()
  const maybe = (chance: number) => random() < chance

  /** The entity tag of a record, which may be that of an earlier read. */
  const tagOf = Effect.fnUntraced(function* (resource: Resource, uuid: string) {
    const old = tags.get(uuid)
    if (old !== undefined && maybe(0.4)) return old
    const read = (uuid: string) =>
      Effect.map(send("GET", `/v1/${resource}/${uuid}`), ({ headers }) => headers.get("etag") ?? `"none"`)
    const tag = { here: yield* single(read(uuid)), there: yield* bulk(read(identities.of(uuid))) }
    tags.set(uuid, tag)
    return tag
  })

  const next = Effect.fnUntraced(function* (resource: Resource, favourites: ReadonlyArray<string>) {
    const known = maybe(0.3) && favourites.length > 0 ? favourites : uuids[resource]
    const uuid = maybe(0.03) || known.length === 0 ? pick(random, [unknownUuid, ...files]) : pick(random, known)
    const named = { uuid: maybe(0.03) ? uuid.toUpperCase() : uuid }
    const target = maybe(0.1) ? { ...named, ifMatch: yield* tagOf(resource, uuid) } : named
    const hasKey = keys[resource] !== undefined
    const chance = random()
    const operation: Operation =
      chance < 0.33
        ? { op: "create", data: data.create(resource) }
        : chance < 0.65 || (chance < 0.9 && !hasKey)
          ? { op: "update", ...target, data: data.patch(resource) }
          : chance < 0.9
            ? { op: "upsert", key: data.keyOf(resource), data: data.upsert(resource) }
            : { op: "delete", ...target }
    return operation
  })

  return {
    next: Effect.gen(function* () {
      const resource = pick(random, resources)
      const isAtomic = maybe(0.25)
      const length = 1 + Math.floor(random() ** 2 * (isAtomic && maybe(0.7) ? 6 : longest))
      data.begin(maybe(isAtomic ? 0.8 : 0.4))
      const favourites = uuids[resource].length === 0 ? [] : [1, 2, 3].map(() => pick(random, uuids[resource]))
      const operations = yield* Effect.forEach(Array.from({ length }), () => next(resource, favourites))
      return { resource, isAtomic, operations } satisfies Sequence
    }),
    /** Notes what an operation did, so that later ones name records that exist. */
    note: (
      resource: Resource,
      { op }: Operation,
      { status, uuid }: { readonly status: number; readonly uuid?: string }
    ) => {
      if (uuid === undefined) return
      if (status === 201) uuids[resource].push(uuid)
      // Most of those that were deleted are not named again.
      if (op === "delete" && maybe(0.8)) uuids[resource].splice(uuids[resource].indexOf(uuid), 1)
    }
  }
}
