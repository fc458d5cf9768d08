import { Struct } from "effect"
import { typeOfKind } from "../../domain/changes/RecordType.ts"
import { bulkExamples } from "./BulkExamples.ts"
import { sampleUuids } from "./SampleUuids.ts"

const { asset, category, file, group, location, upload, user } = sampleUuids

/** The `ETag` of the part in the example of a completed upload. */
export const sampleETag = "9b2cf535f27731c974343645a3985328"

const price = { amountMinor: 1250, currency: "EUR" }
const postTexts = { locale: "nl-NL", title: "Spring campaign", body: "<p>From the first of March …</p>" }

/**
 * The request bodies that cannot be made of the examples of their members, because members depend on each other or name
 * records. The service accepts every example once its uuids are those of records.
 */
export const requestExamples: Readonly<Record<string, unknown>> = {
  ...bulkExamples,
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
  "products.updateDistributionModule": {
    channels: [
      { channel: "download", formats: ["pdf"] },
      { channel: "print", supplier: { name: "De Drukker", email: "orders@example.com" }, approvalRequired: true }
    ],
    allocationMode: "explicit",
    allocations: [{ locationUuid: location, quantity: 250 }]
  },
  "products.updateLocationsModule": {
    mode: "include",
    locations: [{ uuid: location }],
    groups: [{ uuid: group }],
    multipleLocations: true
  },
  "products.updateFilesModule": {
    files: [
      { fileUuid: file, role: "print", name: "Print file", locale: "nl-NL" },
      { assetUuid: asset, role: "preview" }
    ],
    downloadLimitPerLocation: 10
  },
  "products.updatePriceModule": {
    model: "tiered",
    currency: "EUR",
    amountMinor: 1250,
    taxRatePercent: 21,
    tiers: [
      { minimumQuantity: 100, amountMinor: 1100 },
      { minimumQuantity: 500, amountMinor: 950 }
    ],
    overrides: [{ scope: "group", uuid: group, amountMinor: 1000, validFrom: "2026-03-01T00:00:00.000Z" }]
  },
  "products.updateWorkflowModule": {
    name: "Two pairs of eyes",
    trigger: "onOrder",
    steps: [
      { name: "Regional manager", approvers: { type: "groups", uuids: [group] }, dueInHours: 48 },
      { name: "Marketing", approvers: { type: "users", uuids: [user] }, onReject: "back" }
    ],
    autoApproveBelow: price
  },
  "products.updateInternalCommentModule": {
    comment: "Reprint only after the new logo is approved.",
    visibility: "managers",
    thread: [{ body: "Who checks the proof?", author: { uuid: user } }]
  },
  "products.updateCampaignsModule": {
    campaigns: [
      {
        key: "spring-2026",
        name: "Spring 2026",
        status: "scheduled",
        startsAt: "2026-03-01T00:00:00.000Z",
        endsAt: "2026-05-31T22:00:00.000Z",
        deadlineAt: "2026-02-01T00:00:00.000Z",
        responsibleUserUuid: user,
        color: "#12489c"
      }
    ],
    onlyDuringCampaign: true
  },
  "products.updatePermissionsModule": {
    authorizationType: "groups",
    groups: [{ uuid: group, actions: ["view", "order"] }],
    locations: [{ uuid: location, actions: ["view"] }]
  },
  "products.updateReservationsModule": {
    unit: "day",
    quantity: 4,
    minDuration: 1,
    maxDuration: 14,
    leadTime: 2,
    bufferAfter: 1,
    maxPerLocation: 2,
    availability: [{ weekday: 1, from: "09:00", until: "17:30" }],
    blackouts: [{ from: "2026-12-24T00:00:00.000Z", until: "2027-01-02T00:00:00.000Z", reason: "Holidays" }]
  },
  "products.updateTemplateModule": {
    templateName: "Flyer with opening hours",
    outputs: [
      { key: "print", format: "pdf", widthMm: 148, heightMm: 210, colorSpace: "cmyk", bleedMm: 3, cropMarks: true },
      { key: "screen", format: "png", widthPx: 1080, heightPx: 1350 }
    ],
    locales: ["nl-NL"],
    variables: [
      {
        key: "openingHours",
        type: "longText",
        translations: [{ locale: "nl-NL", label: "Openingstijden" }],
        source: "location",
        sourcePath: "other.extraDna3"
      }
    ]
  },
  "products.updateFormBuilderModule": {
    translations: [{ locale: "nl-NL", title: "Uw gegevens" }],
    fields: [
      {
        key: "delivery",
        type: "radio",
        translations: [{ locale: "nl-NL", label: "Levering" }],
        required: true,
        options: [{ value: "pickup" }, { value: "shipping", translations: [{ locale: "nl-NL", label: "Bezorgen" }] }]
      },
      {
        key: "street",
        type: "text",
        translations: [{ locale: "nl-NL", label: "Straat" }],
        width: 50,
        validation: { minLength: 2, maxLength: 100 },
        visibleWhen: { field: "delivery", operator: "equals", value: "shipping" }
      }
    ],
    recipients: ["orders@example.com"]
  },
  "products.updateVariantsModule": {
    options: [
      {
        key: "size",
        translations: [{ locale: "nl-NL", name: "Formaat" }],
        values: [{ key: "a5", translations: [{ locale: "nl-NL", label: "A5" }] }, { key: "a4" }]
      }
    ]
  },
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
