import { Struct } from "effect"
import { typeOfKind } from "../../domain/changes/RecordType.ts"
import { bulkExamples } from "./BulkExamples.ts"
import { moduleExamples } from "./ModuleExamples.ts"
import { sampleUuids } from "./SampleUuids.ts"

const { asset, category, file, group, location, upload, user } = sampleUuids

/** The `ETag` of the part in the example of a completed upload. */
export const sampleETag = "9b2cf535f27731c974343645a3985328"

const postTexts = { locale: "nl-NL", title: "Spring campaign", body: "<p>From the first of March …</p>" }

/**
 * The request bodies that cannot be made of the examples of their members, because members depend on each other or name
 * records. The service accepts every example once its uuids are those of records.
 */
export const requestExamples: Readonly<Record<string, unknown>> = {
  ...bulkExamples,
  ...moduleExamples,
  // A deleted record is restored without a body of its own.
  ...Object.fromEntries(Struct.keys(typeOfKind).map((group) => [`${group}.restore`, {}])),
  "users.create": {
    username: "anna.devries",
    email: "anna@example.com",
    firstName: "Anna",
    lastName: "de Vries",
    role: "ROLE_MANAGER",
    languageCode: "nl",
    countryCode: "NL",
    phone: "+31 30 123 45 67",
    locations: [location],
    groups: [group]
  },
  "users.update": { lastName: "de Vries-Bakker", languageCode: "en", phone: null },
  "users.updateLocations": { locations: [location] },
  "users.updateGroups": { groups: [group] },
  "products.create": {
    type: "default",
    identifier: "FLY-A5",
    name: "Flyer A5",
    translations: [{ locale: "nl-NL", name: "Flyer A5 staand" }],
    categories: ["flyers"],
    tags: ["spring"],
    visibleFrom: "2026-03-01T00:00:00.000Z",
    visibleUntil: "2026-05-31T22:00:00.000Z"
  },
  "products.update": { name: "Flyer A5", tags: ["spring", "print"], visibleUntil: null, position: 10 },
  "reservations.create": {
    locationUuid: location,
    from: "2033-06-06T08:00:00.000Z",
    until: "2033-06-13T08:00:00.000Z",
    quantity: 1
  },
  "locations.updateMedia": {
    logo: { assetUuid: asset },
    items: [
      { assetUuid: asset, role: "exterior", labels: [{ key: "caption", locale: "nl-NL", label: "De gevel" }] },
      { fileUuid: file, role: "menu" }
    ]
  },
  "locations.updateUsers": { users: [user] },
  "locations.updateGroups": { groups: [group] },
  "groups.create": {
    name: "Region North",
    description: "All branches north of the rivers",
    users: [user],
    locations: [location]
  },
  "groups.update": { description: "All branches north of the rivers", users: [user], locations: [location] },
  "groups.updateUsers": { users: [user] },
  "groups.updateLocations": { locations: [location] },
  "uploads.complete": { uuid: upload, parts: [{ partNumber: 1, eTag: sampleETag }] },
  "assets.create": {
    fileUuid: file,
    translations: [{ locale: "nl-NL", name: "Zomeractie poster" }],
    categories: ["product-photos"],
    metaTags: [{ key: "campaignSeason", value: ["spring-2026"] }],
    validUntil: "2026-08-31T22:00:00.000Z",
    focalPoint: { x: 0.5, y: 0.25 }
  },
  "assets.update": {
    translations: [{ locale: "en", name: "Summer poster", description: "Portrait, for shop windows" }],
    categories: ["product-photos"],
    validUntil: null
  },
  "assets.updateMetaTags": { metaTags: [{ key: "campaignSeason", value: ["spring-2026"] }] },
  "posts.create": {
    type: "news",
    translations: [postTexts],
    author: { uuid: user },
    coverAssetUuid: asset,
    categories: ["campaigns"],
    tags: ["spring"],
    audience: { authorizationType: "groups", groups: [{ uuid: group }] },
    callToAction: { type: "learnMore", url: "https://example.com/spring" },
    pinned: true
  },
  "posts.update": { translations: [postTexts], mediaAssetUuids: [asset], tags: ["spring", "print"], pinned: false },
  "assetCategories.create": {
    key: "product-photos",
    translations: [{ locale: "nl-NL", name: "Productfoto's" }],
    parentUuid: category,
    position: 10
  },
  "assetCategories.update": { translations: [{ locale: "nl-NL", name: "Productfoto's" }], position: 20 },
  "webhooks.create": {
    url: "https://erp.example.com/waypost",
    types: ["location.*", "user.deleted"],
    description: "Keeps the ERP up to date"
  },
  "webhooks.update": { types: ["location.*"], active: true },
  "webhooks.replay": { since: "2026-01-31T09:30:00.000Z" },
  "apiKeys.create": {
    name: "ERP synchronisation",
    permissions: ["read:locations", "update:locations"],
    expiresAt: "2099-12-31T23:00:00.000Z"
  }
}
