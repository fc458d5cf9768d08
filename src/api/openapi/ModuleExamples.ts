import { sampleUuids } from "./SampleUuids.ts"

const { asset, file, group, location, user } = sampleUuids

const price = { amountMinor: 1250, currency: "EUR" }

/** The bodies of requests that update modules. */
export const moduleExamples: Readonly<Record<string, unknown>> = {
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
  }
}
