import { assert, describe, it } from "@effect/vitest"
import { long, many, outcome, rejects, stores, acceptsInt } from "./outcome.ts"

const money = (amountMinor: number, currency = "EUR") => ({ amountMinor, currency })
const [early, late] = ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"]

describe("the socials module", () => {
  it("the socials module has the defaults of the model", () =>
    assert.deepStrictEqual(outcome("socials", {}), {
      networks: [],
      translations: [],
      textEditable: false,
      mediaEditable: false
    }))

  it("the socials module stores values within the bounds", () => {
    assert.deepStrictEqual(
      ...stores(
        "socials",
        {},
        [{ networks: [{ network: "x" }] }, { networks: [{ network: "x", active: true, postTypes: [] }] }],
        { networks: [{ network: "tiktok", active: false, postTypes: ["reel"], maxTextLength: 2200 }] },
        { translations: [{ locale: "nl", text: long(5000), hashtags: many(30, (index) => `#${index}`) }] },
        [{ translations: [{ locale: "nl" }] }, { translations: [{ locale: "nl", hashtags: [] }] }],
        { callToAction: { type: "order", url: "https://example.com" } },
        [{ callToAction: {} }, { callToAction: { type: "none" } }],
        { scheduling: { allowed: true, earliestAt: early, latestAt: late } },
        [{ boosting: { minBudget: money(1) } }, { boosting: { allowed: false, minBudget: money(1) } }],
        { boosting: { allowed: true, minBudget: money(1), maxBudget: money(1) } },
        [{ callToAction: null, scheduling: null, boosting: null }, {}]
      )
    )
    assert.deepStrictEqual(
      ...acceptsInt("socials", {}, "maxTextLength", [1, 100_000], (maxTextLength) => ({
        networks: [{ network: "x", maxTextLength }]
      }))
    )
  })

  it("the socials module rejects values outside of the bounds", () =>
    assert.deepStrictEqual(
      ...rejects(
        "socials",
        {},
        [{ networks: [{ network: "myspace" }] }, "networks.0.network notAllowed"],
        [{ networks: [{ network: "x" }, { network: "x" }] }, "networks.1.network duplicate"],
        [{ networks: [{ network: "x", postTypes: ["poll"] }] }, "networks.0.postTypes.0 notAllowed"],
        [{ translations: [{ locale: "nl", text: long(5001) }] }, "translations.0.text tooLong"],
        [
          { translations: [{ locale: "nl", hashtags: many(31, (index) => `#${index}`) }] },
          "translations.0.hashtags tooMany"
        ],
        [{ callToAction: { url: "https://a:b" } }, "callToAction.url invalidFormat"],
        [{ scheduling: { earliestAt: late, latestAt: early } }, "scheduling.latestAt notInOrder"],
        [{ boosting: { minBudget: money(2), maxBudget: money(1) } }, "boosting.maxBudget notInOrder"],
        [{ boosting: { minBudget: money(1), maxBudget: money(2, "USD") } }, "boosting.maxBudget.currency otherCurrency"]
      )
    ))
})
