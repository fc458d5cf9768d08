import { Effect } from "effect"
import { createAsset, createCategory, createMetaTag, upload } from "../requests/AssetRequests.ts"
import { createPost } from "../requests/PostRequests.ts"
import * as Products from "../requests/ProductRequests.ts"
import { send, unique } from "../requests/Requests.ts"
import { begin } from "../requests/UploadRequests.ts"

const done = Effect.fnUntraced(function* (method: string, path: string, body: unknown) {
  const { status, text } = yield* send(method, path, { body })
  if (status >= 300) throw new Error(`${method} ${path}: ${text}`)
})

/** Text that faulty quoting or escaping corrupts. */
const hard = String.raw`Ω "quoted" \back\\slash {a,b} NULL \N ’é😀`

/** Records of every kind, linked to each other. */
export const createEverything = Effect.gen(function* () {
  const location = yield* Products.createLocation({ name: hard, postalCodes: ["1234 AB", "NULL"] })
  const user = yield* Products.createUser({ firstName: hard })
  const group = yield* Products.createGroup({ description: hard })
  yield* send("DELETE", `/v1/groups/${yield* Products.createGroup()}`, {
    headers: { "idempotency-key": unique("deletion") }
  })
  yield* done("POST", "/v1/plans?resource=locations", [{ identifier: unique("planned"), name: hard }])
  yield* done("PUT", `/v1/users/${user}/groups`, { groups: [group] })
  yield* done("PUT", `/v1/users/${user}/locations`, { locations: [location] })
  yield* done("PUT", `/v1/groups/${group}/locations`, { locations: [location] })

  const [above, below, tag] = [unique("above"), unique("below"), unique("tag").replace("-", "_")]
  const parentUuid = yield* createCategory({ key: above, translations: [{ locale: "en", name: hard }] })
  yield* createCategory({ key: below, parentUuid })
  yield* createMetaTag({ key: tag, type: "text", searchable: true, categories: [below] })
  const asset = yield* createAsset({
    fileUuid: yield* upload(),
    translations: [
      { locale: "en", name: hard, description: hard },
      { locale: "nl", name: "Zomer" }
    ],
    categories: [below],
    metaTags: [{ key: tag, value: hard }]
  })
  yield* upload()
  yield* done("PUT", `/v1/locations/${location}/media`, {
    logo: { assetUuid: asset },
    items: [{ fileUuid: yield* upload(), role: "other" }]
  })

  const parent = yield* Products.createProduct({ type: "variantParent" })
  yield* Products.activate(parent, "variants", Products.minimalSettings["variants"])
  yield* Products.createVariant(parent, { optionValues: [{ option: "size", value: "a1" }] })
  const product = yield* Products.createProduct({ description: hard })
  yield* Products.activate(product, "files", { files: [{ fileUuid: yield* upload(), role: "download" }] })
  yield* Products.activate(product, "price", { model: "fixed", amountMinor: 250 })
  yield* Products.activate(product, "permissions", { authorizationType: "everyone" })

  yield* createPost({ coverAssetUuid: asset })
  const scheduled = yield* createPost()
  yield* done("PATCH", `/v1/posts/${scheduled}`, { status: "scheduled", publishAt: "2999-01-01T00:00:00.000Z" })
  // An open upload.
  yield* begin(1000)
})
