import { Effect } from "effect"
import { createPost } from "../requests/PostRequests.ts"
import { activate, createUser, patchProduct } from "../requests/ProductRequests.ts"
import { unknownUuid } from "../requests/Requests.ts"
import { asset, category, group, location, type Made, metaTag, on, type Prepared, product, user } from "./Calls.ts"

const aPost = Effect.suspend(() => createPost())

/** A product that a new user sees. */
const visibleProduct = product.pipe(
  Effect.tap((uuid) => activate(uuid, "permissions", { authorizationType: "everyone" })),
  Effect.tap((uuid) => patchProduct(uuid, { status: "published" })),
  Effect.tap(() => createUser())
)

const filtered = (record: Made<string>): Prepared => Effect.map(record, (uuid) => ({ uuid, query: "?filter=none" }))

/** A question with some of its records; unknown ones for the others. */
const asking = (given: Readonly<Record<string, Made<string>>>): Prepared =>
  Effect.gen(function* () {
    const named = yield* Effect.all(given)
    return { query: `?${new URLSearchParams(named).toString()}` }
  })

const unknown = Effect.succeed(unknownUuid)

/** Calls of the operations that say who may see what, and what refers to what. */
export const accessCalls: Readonly<Record<string, Prepared>> = {
  "access.explain": asking({ user, product: visibleProduct }),
  "access.explain UserNotFoundError": asking({ user: unknown, product }),
  "access.explain LocationNotFoundError": asking({ location: unknown, product }),
  "access.explain ProductNotFoundError": asking({ user, product: unknown }),
  "access.explain PostNotFoundError": asking({ user, post: unknown }),
  "access.listProductAudience": on(visibleProduct),
  "access.listProductAudience InvalidFilterError": filtered(product),
  "access.listPostAudience": on(aPost),
  "access.listPostAudience InvalidFilterError": filtered(aPost),
  "access.listUserProducts": on(Effect.tap(user, () => visibleProduct)),
  "access.listUserPosts": on(user),
  "access.listUserPosts InvalidLocaleError": Effect.map(user, (uuid) => ({ uuid, query: "?locale=qq-QQ" })),
  "access.listLocationProducts": on(Effect.tap(location, () => visibleProduct)),
  "usages.ofUser": on(user),
  "usages.ofLocation": on(location),
  "usages.ofGroup": on(group),
  "usages.ofAsset": on(asset),
  "usages.ofProduct": on(product),
  "usages.ofMetaTag": on(metaTag),
  "usages.ofAssetCategory": on(category)
}
