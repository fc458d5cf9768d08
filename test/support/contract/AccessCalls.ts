import { asset, category, group, location, metaTag, on, type Prepared, product, user } from "./Calls.ts"

/** Calls of the operations that say who may see what, and what refers to what. */
export const accessCalls: Readonly<Record<string, Prepared>> = {
  "usages.ofUser": on(user),
  "usages.ofLocation": on(location),
  "usages.ofGroup": on(group),
  "usages.ofAsset": on(asset),
  "usages.ofProduct": on(product),
  "usages.ofMetaTag": on(metaTag),
  "usages.ofAssetCategory": on(category)
}
