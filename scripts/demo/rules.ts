import { flagships, largest, managerOf, ofCountry } from "./brand.ts"
import { seasons } from "./catalogue.ts"
import { euros } from "./goods.ts"
import { endOf, startOf, today, year } from "./time.ts"

// What modules say of who may have the demo's products, when, and after whom it was asked.

const cities = largest(12)

/** Approval by the manager of the branch, and above an amount by marketing. */
export const approval = (below: number) => ({
  name: "Approval of large orders",
  autoApproveBelow: euros(below),
  steps: [
    { name: "Branch", approvers: { type: "locationManagers" }, dueInHours: 24 },
    {
      name: "Marketing",
      approvers: { type: "users", uuids: cities.slice(0, 3).map(managerOf) },
      dueInHours: 48,
      escalateTo: managerOf(cities[3]!),
      onReject: "back"
    }
  ]
})
export const review = {
  name: "Review before publication",
  trigger: "onPublish",
  steps: [{ name: "Flagships", approvers: { type: "groups", uuids: [flagships] }, requiredApprovals: 2 }]
}

/** The campaigns of some seasons in this year and the next. */
export const campaigns = (keys: ReadonlyArray<string>, onlyDuringCampaign = false) => ({
  onlyDuringCampaign,
  campaigns: seasons
    .filter(({ key }) => keys.includes(key))
    .flatMap(({ key, names, rest: [from, until, color] }, index) =>
      [year, year + 1].map((ofYear) => {
        const [startsAt, endsAt] = [startOf(from!, ofYear), endOf(until!, ofYear)]
        return {
          key: `${key}-${ofYear}`,
          name: `${names.en} ${ofYear}`,
          status: endsAt < today ? "closed" : startsAt <= today ? "active" : "scheduled",
          startsAt,
          endsAt,
          deadlineAt: startsAt,
          responsibleUserUuid: managerOf(cities[index % cities.length]!),
          color
        }
      })
    )
})

export const everywhere = { mode: "all" }
export const inCountries = (...countries: ReadonlyArray<string>) => ({
  mode: "include",
  groups: countries.map(ofCountry),
  locations: cities.slice(0, 2)
})
export const outside = (...countries: ReadonlyArray<string>) => ({ mode: "exclude", groups: countries.map(ofCountry) })

export const forEveryone = { authorizationType: "everyone" }
export const forFlagships = {
  authorizationType: "groups",
  groups: [
    { uuid: flagships, actions: ["view", "order", "customize"] },
    { uuid: ofCountry("NL"), actions: ["view"] }
  ]
}
export const forSome = {
  authorizationType: "locations",
  locations: cities.slice(0, 6).map((uuid) => ({ uuid, actions: ["view", "order"] }))
}

export const supplier = (externalId: string) => ({
  provider: "De Halm",
  externalId,
  endpoint: "https://orders.dehalm.example/v2/lines",
  headerNames: ["X-Customer", "X-Order-Source"],
  fieldMapping: [
    { source: "location.identifier", target: "shipTo" },
    { source: "order.quantity", target: "qty" }
  ]
})

/** What is said behind the scenes, by the managers of two large branches. */
export const comment = (about: string) => ({
  comment: `**${about}**: order in time, the printer needs four days.`,
  visibility: "managers",
  editedBy: managerOf(cities[0]!),
  thread: [
    {
      body: "Is the recycled paper ready for this one?",
      author: managerOf(cities[1]!),
      status: "resolved",
      createdAt: startOf("01-12", year)
    },
    { body: "Yes, from the next run on.", author: managerOf(cities[2]!), createdAt: endOf("01-12", year) }
  ]
})

/** Lent by the day, on working days, with time to clean in between. */
export const reservations = (quantity: number) => ({
  quantity,
  maxDuration: 14,
  leadTime: 3,
  bufferAfter: 1,
  maxPerLocation: 2,
  approvalRequired: quantity < 10,
  availability: [1, 2, 3, 4, 5, 6].map((weekday) => ({ weekday, from: "08:00", until: "18:00" })),
  blackouts: [{ from: startOf("12-24", year), until: endOf("12-26", year), reason: "Christmas" }],
  holdExpiresAfterMinutes: 120
})
