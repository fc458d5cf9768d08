import { sampleUuids } from "./SampleUuids.ts"

const { asset, category, file, group, location, metaTag, post, product, user } = sampleUuids

const bulk = (...operations: ReadonlyArray<object>) => ({ mode: "independent", operations })

const create = (data: object) => ({ op: "create", data })
const update = (uuid: string, data: object) => ({ op: "update", uuid, data })
const upsert = (key: string, data: object) => ({ op: "upsert", key, data })

/** The bodies of requests that write many records, one of each kind of operation. */
export const bulkExamples: Readonly<Record<string, unknown>> = {
  "users.bulk": bulk(
    create({ username: "joris.bakker", email: "joris@example.com", firstName: "Joris", locations: [location] }),
    update(user, { phone: null }),
    upsert("fatima.elamrani", { email: "fatima@example.com", groups: [group] })
  ),
  "locations.bulk": bulk(
    create({ name: "Bakkerij De Vries, Amersfoort", identifier: "AMF-001", address: { city: "Amersfoort" } }),
    update(location, { contact: { phone: null } }),
    upsert("ZWO-001", { name: "Bakkerij De Vries, Zwolle", locale: "nl-NL" })
  ),
  "groups.bulk": bulk(
    create({ name: "Region South", locations: [location] }),
    update(group, { description: "All branches south of the rivers" }),
    upsert("Region East", { users: [user] })
  ),
  "products.bulk": bulk(
    create({ type: "default", identifier: "FLY-A6", name: "Flyer A6" }),
    update(product, { tags: ["spring", "print"] }),
    upsert("POS-A2", { type: "default", name: "Poster A2" })
  ),
  "posts.bulk": bulk(
    create({ type: "news", translations: [{ locale: "nl-NL", title: "New opening hours" }] }),
    update(post, { pinned: false, coverAssetUuid: asset }),
    upsert("summer-campaign", { type: "news", translations: [{ locale: "nl-NL", title: "Summer campaign" }] })
  ),
  "assets.bulk": bulk(
    create({ fileUuid: file, translations: [{ locale: "nl-NL", name: "Herfstactie poster" }] }),
    update(asset, { validUntil: null })
  ),
  "assetCategories.bulk": bulk(
    create({ key: "team-photos" }),
    update(category, { position: 20 }),
    upsert("logos", { translations: [{ locale: "nl-NL", name: "Logo's" }] })
  ),
  "metaTags.bulk": bulk(
    create({ key: "photographer", type: "text" }),
    update(metaTag, { position: 20 }),
    upsert("usageRights", { type: "text", required: false })
  )
}
