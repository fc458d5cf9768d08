import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { sampleETag } from "../../src/api/openapi/Examples.ts"
import { sampleUuids } from "../../src/api/openapi/SampleUuids.ts"
import {
  asset,
  category,
  file,
  group,
  location,
  metaTag,
  product,
  productWith,
  user
} from "../support/contract/Calls.ts"
import { createPost } from "../support/requests/PostRequests.ts"
import { activate, createProduct } from "../support/requests/ProductRequests.ts"
import { send } from "../support/requests/Requests.ts"
import { begin, putPart } from "../support/requests/UploadRequests.ts"
import * as TestServer from "../support/TestServer.ts"
import { operations } from "./Derived.ts"

const requests = operations.flatMap(({ method, operation, path }) => {
  const { operationId: id, requestBody } = operation
  return Object.entries(requestBody?.content ?? {}).map(([type, { example }]) => ({
    id,
    type,
    method: method.toUpperCase(),
    path,
    example
  }))
})

/**
 * Creations precede the writes of what they create; categories and meta tags precede the assets that name them. Erasing the history of
 * a location removes its plans.
 */
const first = new Set(["assetCategories.create", "metaTags.create"])
const rank = ({ id, path }: (typeof requests)[number]) => {
  if (first.has(id)) return 0
  if (id === "locations.eraseHistory") return 3
  return path.includes("{uuid}") || id === "uploads.complete" ? 2 : 1
}
const inOrder = requests.toSorted((a, b) => rank(a) - rank(b))

const upload = Effect.gen(function* () {
  const session = yield* begin(5)
  return { uuid: session.uuid, ...(yield* putPart(session, 1, Buffer.from("bytes"))) }
})

const post = Effect.suspend(() => createPost())
const records = { user, location, group, asset, file, category, product, post, metaTag }

/** An example with the uuids of new records in place of its own. */
const withRecords = Effect.fnUntraced(function* (example: string) {
  let body = example
  for (const [kind, make] of Object.entries(records)) {
    const sample = sampleUuids[kind as keyof typeof records]
    if (body.includes(sample)) body = body.replaceAll(sample, yield* make)
  }
  if (!body.includes(sampleUuids.upload)) return body
  const { eTag, uuid } = yield* upload
  return body.replace(sampleUuids.upload, uuid).replace(JSON.stringify(sampleETag), JSON.stringify(eTag))
})

/** Products on which the example of an operation is a valid change, where a plain one is not. */
const products: Readonly<Record<string, typeof product>> = {
  "products.updateVariantsModule": Effect.suspend(() => createProduct({ type: "variantParent" })),
  "products.recordApiCall": productWith("api"),
  "reservations.create": Effect.tap(product, (uuid) =>
    activate(uuid, "reservations", { unit: "week", maxAdvance: 366 })
  )
}

layer(TestServer.layer(), { excludeTestServices: true })("request examples", (it) => {
  it.effect("the service accepts the example of every request", () =>
    Effect.gen(function* () {
      assert.isAbove(requests.length, 45)
      /** What the examples created, by the first segment of the path. */
      const created = new Map<string, string>()
      const rejected: Array<unknown> = []
      for (const { example, id, method, path, type } of inOrder) {
        const segment = path.split("/")[2]!
        const text = typeof example === "string" ? example : JSON.stringify(example)
        assert.notInclude(text, "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30", `${id} names no kind of record`)
        const body = yield* withRecords(text)
        const isOfProduct = segment === "products" && id !== "products.update"
        const uuid = isOfProduct ? yield* products[id] ?? product : created.get(segment)
        const target = path.replace("{uuid}", id === "uploads.renewParts" ? (yield* upload).uuid : (uuid ?? ""))
        // The example restores a deleted record.
        if (id.endsWith(".restore"))
          yield* send("DELETE", target.replace("/restore", segment === "assets" ? "?force=true" : ""))
        const query = id === "plans.create" ? "?resource=locations" : ""
        const answer = yield* send(method, target + query, { raw: body, headers: { "content-type": type } })
        if (answer.status >= 300) rejected.push([id, answer.status, answer.body.message])
        else if (id.endsWith(".bulk")) {
          const failed = answer.body.data.filter(({ status }: { status: number }) => status >= 300)
          if (failed.length > 0) rejected.push([id, ...failed])
        } else if (method === "POST" && !path.includes("{uuid}")) created.set(segment, answer.body.data.uuid)
      }
      assert.deepStrictEqual(rejected, [])
    })
  )
})
