import { Effect } from "effect"
import { extraMembers } from "../../src/domain/assets/Asset.ts"
import { Sql } from "../../src/sql/Sql.ts"
import { fileRow } from "../support/requests/AssetRequests.ts"
import type { Answered } from "../support/filters/FilterOracle.ts"
import * as FilterRecords from "../support/filters/FilterRecords.ts"
import type { Samples } from "../support/filters/FilterSamples.ts"
import { Wire } from "../support/wire/Wire.ts"

/** The number of records of each kind. */
const size = 200

/** The filtered lists, with the other query parameters. */
export const lists = {
  locations: "",
  users: "",
  groups: "",
  assets: `include=${extraMembers.join(",")}&`,
  products: "",
  posts: ""
} as const

type Kind = keyof typeof lists

/** A page that holds all records matched by a filter. */
export const ask = Effect.fnUntraced(function* (kind: Kind, filter?: string) {
  const { send } = yield* Wire
  const query = `${lists[kind]}limit=500${filter === undefined ? "" : `&filter=${encodeURIComponent(filter)}`}`
  return yield* send("GET", `/v1/${kind}?${query}`)
})

const create = Effect.fnUntraced(function* (path: string, body: object) {
  const { send } = yield* Wire
  const answer = yield* send("POST", path, { body: JSON.stringify(body) })
  if (answer.status !== 201) return yield* Effect.die(new Error(`${JSON.stringify(body)}\n${answer.text}`))
  return answer.body.data.uuid as string
})

/** Creates `size` records; their bodies depend only on the seed. */
const createAll = (kind: Kind, body: (index: number) => object) =>
  Effect.forEach(
    Array.from({ length: size }, (_, index) => body(index)),
    (made) => create(`/v1/${kind}`, made),
    { concurrency: 8 }
  )

/** Waits until background jobs have finished: images are processed, and due posts have changed status. */
const settled = Effect.flatMap(Sql, ({ pooled }) =>
  Effect.repeat(
    Effect.delay(
      pooled<{ readonly waiting: boolean }>`select exists (select from files where processing = 'pending')
        or exists (select from posts where status = 'scheduled' and publish_at <= now())
        or exists (select from posts where status = 'published' and expire_at <= now()) as waiting`,
      "50 millis"
    ),
    { until: ([row]) => !row!.waiting }
  )
)

/** Sets times and dimensions that no client can set. */
const spread = Effect.fnUntraced(function* ({ instant }: Samples) {
  const { pooled } = yield* Sql
  yield* pooled`update files set width = size * 10, height = 600, sha256 = md5(uuid::text),
    duration = case when size > 3 then size / 3.0 end, processing = case when size > 3 then 'ready' else 'failed' end`
  for (const kind of Object.keys(lists)) {
    const rows = yield* pooled.unsafe<{ readonly uuid: string }>(`select uuid from ${kind}`)
    const moments = rows.map(({ uuid }) => ({ uuid, created: instant(), edited: instant() }))
    yield* pooled.unsafe(
      `update ${kind} set created_at = (moment->>'created')::timestamptz, edited_at = (moment->>'edited')::timestamptz
        from jsonb_array_elements($1::jsonb) moment where uuid = (moment->>'uuid')::uuid`,
      [JSON.stringify(moments)]
    )
  }
})

/** Attaches media and labels to locations and modules to products, so that filters on lists and computed members match. */
const attach = Effect.fnUntraced(function* (
  { chance, pick }: Samples,
  made: { readonly locations: ReadonlyArray<string>; readonly assets: ReadonlyArray<string> },
  products: ReadonlyArray<string>
) {
  const { send } = yield* Wire
  const put = (path: string, body: object) => send("PUT", path, { body: JSON.stringify(body) })
  for (const uuid of made.locations.filter(() => chance(0.3))) {
    const label = { key: "other.extraDna1", locale: pick(["nl", "tr"]), label: pick(["Openingstijden", "İÇİN %"]) }
    const labels = [label, { ...label, key: "title", label: pick(['Gevel, "voor"', "a\\b", "ΣΑΣ"]) }]
    const item = { assetUuid: pick(made.assets), role: pick(["exterior", "menu"]) }
    yield* put(`/v1/locations/${uuid}/media`, {
      items: [
        { ...item, labels: pick([[], labels]) },
        { ...item, role: "team", labels: pick([[], [label]]) }
      ],
      logo: { assetUuid: pick(made.assets) }
    })
    yield* put(`/v1/locations/${uuid}/translation-labels`, { translationLabels: [label] })
  }
  for (const uuid of products.filter(() => chance(0.5))) {
    const files = [{ assetUuid: pick(made.assets), role: pick(["preview", "print"]) }]
    yield* put(`/v1/products/${uuid}/modules/files`, { files })
    yield* put(`/v1/products/${uuid}/modules/${pick(["price", "stock", "socials"])}`, {})
  }
})

/** The asset whose meta tags also have their value under their key, as a filter names it. */
const withKeys = (asset: Answered): Answered => ({
  ...asset,
  metaTags: (asset["metaTags"] as ReadonlyArray<{ readonly key: string; readonly value: string }>).map((tag) => ({
    ...tag,
    [tag.key]: tag.value
  }))
})

/** Creates records of every kind; returns them as listed. */
export const make = Effect.fnUntraced(function* (samples: Samples) {
  const records = FilterRecords.make(samples)
  const { below } = samples
  const locations = yield* createAll("locations", records.location)
  const users = yield* createAll("users", (index) => records.user(index, locations))
  const groups = yield* createAll("groups", (index) => records.group(index, users, locations))
  for (const key of ["logos", "photos"]) yield* create("/v1/asset-categories", { key })
  for (const [key, type] of [
    ["caption", "text"],
    ["year", "integer"],
    ["shotOn", "dateTime"]
  ]) {
    yield* create("/v1/meta-tags", { key, type, filterable: true })
  }
  yield* create("/v1/meta-tags", {
    key: "season",
    type: "select",
    filterable: true,
    options: [{ key: "spring", translations: [{ locale: "en", label: 'Lente, "vroeg"' }] }, { key: "autumn" }]
  })
  const files = yield* Effect.forEach(Array.from({ length: size }), () => fileRow(records.fileName(), 1 + below(6)))
  const assets = yield* createAll("assets", (index) => ({ fileUuid: files[index], ...records.asset() }))
  const parents: Array<string> = []
  const products = yield* Effect.forEach(
    Array.from({ length: size }, (_, index) => index),
    Effect.fnUntraced(function* (index) {
      const uuid = yield* create("/v1/products", records.product(index, parents))
      if (index < 10) parents.push(uuid)
      return uuid
    })
  )
  yield* createAll("posts", (index) => records.post(index, { users, groups, locations, assets }))
  yield* attach(samples, { locations, assets }, products)
  yield* settled
  yield* spread(samples)
  const answered: Partial<Record<Kind, ReadonlyArray<Answered>>> = {}
  for (const kind of Object.keys(lists) as ReadonlyArray<Kind>) answered[kind] = (yield* ask(kind)).body.data
  answered.assets = answered.assets!.map(withKeys)
  return answered as Readonly<Record<Kind, ReadonlyArray<Answered>>>
})
