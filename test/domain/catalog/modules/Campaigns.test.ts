import { assert, describe, it } from "@effect/vitest"
import { long, many, outcome, rejects, uuid } from "./outcome.ts"

const day = (number: number) => `2026-01-0${number}T00:00:00.000Z`
const campaign = (fields: object = {}) => ({
  key: "spring",
  name: "Spring",
  startsAt: day(1),
  endsAt: day(5),
  ...fields
})

describe("the campaigns module", () => {
  it("the campaigns module has the defaults of the model", () => {
    assert.deepStrictEqual(outcome("campaigns", {}), { campaigns: [], onlyDuringCampaign: false })
    assert.deepStrictEqual(outcome("campaigns", { campaigns: [campaign()] }), {
      campaigns: [{ uuid: uuid(1), ...campaign(), status: "draft", participation: "optional" }],
      onlyDuringCampaign: false
    })
  })

  it("the campaigns module stores values within the bounds", () => {
    const full = campaign({
      uuid: uuid(3),
      description: "a\nb",
      status: "active",
      deadlineAt: day(5),
      responsibleUserUuid: uuid(4),
      participation: "mandatory",
      color: "#12489c"
    })
    assert.deepStrictEqual(outcome("campaigns", { campaigns: [full], onlyDuringCampaign: true }), {
      campaigns: [full],
      onlyDuringCampaign: true
    })
    const hundred = many(100, (index) => campaign({ key: `${index}` }))
    assert.notInstanceOf(outcome("campaigns", { campaigns: hundred }), Array)
  })

  it("the campaigns module rejects values outside of the bounds", () =>
    assert.deepStrictEqual(
      ...rejects(
        "campaigns",
        {},
        [{ campaigns: [campaign(), campaign()] }, "campaigns.1.key duplicate"],
        [{ campaigns: [campaign({ endsAt: day(1) })] }, "campaigns.0.endsAt notInOrder"],
        [{ campaigns: [campaign({ deadlineAt: day(6) })] }, "campaigns.0.deadlineAt notInOrder"],
        [{ campaigns: [campaign({ startsAt: undefined })] }, "campaigns.0.startsAt wrongType"],
        [{ campaigns: [campaign({ startsAt: "2026-01-01" })] }, "campaigns.0.startsAt invalidFormat"],
        [{ campaigns: [campaign({ name: long(256) })] }, "campaigns.0.name tooLong"],
        [{ campaigns: [campaign({ status: "over" })] }, "campaigns.0.status notAllowed"],
        [{ campaigns: [campaign({ color: "red" })] }, "campaigns.0.color invalidFormat"],
        [{ campaigns: many(101, (index) => campaign({ key: `${index}` })) }, "campaigns tooMany"]
      )
    ))
})
