const window = { startsAt: "2026-03-01T00:00:00.000Z", endsAt: "2026-05-01T00:00:00.000Z" }

/** A product with every module that a product without variants supports. */
export const poster = {
  type: "default",
  identifier: "POSTER",
  name: "Poster",
  description: "Line one\nline two",
  status: "published",
  translations: [
    { locale: "de-DE", name: "Plakat" },
    { locale: "nl", name: "Affiche", description: "Een affiche" }
  ],
  tags: ["spring; summer", "a,b"],
  position: 3,
  visibleFrom: "2026-01-01T00:00:00.000Z",
  modules: {
    api: { provider: "erp", endpoint: "https://erp.example/orders", headerNames: ["X-Source"] },
    delivery: { methods: [{ key: "post", type: "shipping", countries: ["NL"] }], defaultMethod: "post" },
    distribution: { allocationMode: "explicit", allocations: [{ locationUuid: "L-2", quantity: 4 }] },
    locations: { mode: "include", locations: ["L-1", { uuid: "L-2" }], groups: ["North"] },
    files: { watermark: true },
    stock: { mode: "trackOnly", onHand: 8, levels: [{ warehouse: "Utrecht", onHand: 8 }] },
    price: {
      model: "fixed",
      amountMinor: 250,
      taxRatePercent: 21,
      overrides: [
        { scope: "group", uuid: "South", amountMinor: 200 },
        { scope: "location", uuid: "L-1", amountMinor: 100, tiers: [{ minimumQuantity: 10, amountMinor: 90 }] }
      ]
    },
    workflow: {
      autoApproveBelow: { amountMinor: 500, currency: "EUR" },
      steps: [
        { name: "Region", approvers: { type: "groups", uuids: ["North", "South"] } },
        { name: "Anna", approvers: { type: "users", uuids: ["anna"] }, escalateTo: "anna" },
        { name: "Role", approvers: { type: "role", role: "ROLE_MANAGER" } }
      ]
    },
    socials: { networks: [{ network: "instagram" }], translations: [{ locale: "nl", text: "Kom!" }] },
    "internal-comment": {
      comment: "Reorder in March",
      editedBy: "anna",
      thread: [{ body: "Is it enough?", author: "anna", createdAt: "2026-01-31T09:30:00.000Z" }]
    },
    campaigns: { campaigns: [{ key: "spring", name: "Spring", ...window, responsibleUserUuid: "anna" }] },
    permissions: { groups: [{ uuid: "North", actions: ["view", "order"] }], locations: ["L-1"] },
    reservations: { quantity: 2, availability: [{ weekday: 1, from: "09:00", until: "17:00" }] },
    template: {
      outputs: [{ key: "print", format: "pdf", widthMm: 210, heightMm: 297 }],
      variables: [{ key: "city", type: "text", source: "location", sourcePath: "address.city" }]
    },
    "form-builder": { fields: [{ key: "note", type: "text", translations: [{ locale: "nl", label: "Tekst" }] }] }
  }
}

/** A product with two variants; the default variant follows it in the file. */
export const parent = {
  type: "variantParent",
  identifier: "SHIRT",
  name: "Shirt",
  status: "published",
  modules: {
    variants: {
      defaultVariantUuid: "SHIRT-L",
      options: [
        { key: "size", values: [{ key: "m" }, { key: "l" }] },
        { key: "colour=tone", values: [{ key: "red" }] }
      ]
    },
    price: { model: "free" }
  }
}

const variant = (identifier: string, size: string, modules: object) => ({
  type: "variant",
  identifier,
  name: identifier,
  status: "published",
  parent: "SHIRT",
  options: [`size=${size}`, "colour\\=tone=red"],
  modules
})

export const variants = [
  variant("SHIRT-M", "m", { stock: { mode: "trackOnly", onHand: 2 } }),
  variant("SHIRT-L", "l", { price: { model: "fixed", amountMinor: 100 } })
]
