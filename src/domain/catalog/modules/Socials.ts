import { Schema } from "effect"
import { distinct } from "../../schema/Distinct.ts"
import { text, Timestamp, WebUrl } from "../../schema/Fields.ts"
import { Money } from "../../schema/Money.ts"
import { choice, flag, inOrder, list, translations, unless } from "../ModuleFields.ts"
import * as Module from "../ModuleShape.ts"
import { int } from "../../schema/WholeNumber.ts"

const Network = Schema.Struct({
  network: Schema.Literals([
    "facebook",
    "instagram",
    "linkedin",
    "x",
    "tiktok",
    "pinterest",
    "youtube",
    "googleBusinessProfile"
  ]),
  active: flag(true),
  postTypes: distinct(Schema.Literals(["post", "story", "reel", "event", "offer"]), 5, "post types"),
  maxTextLength: Schema.optionalKey(int(1, 100_000))
})

/** How the product is posted to social networks. */
export const SocialsModule = Module.make(
  "socials",
  {
    networks: list(Network, { max: 8, of: "networks", uniqueBy: "network" }),
    translations: translations({
      text: Schema.optionalKey(text(5000, { multiline: true })),
      hashtags: distinct(text(100), 30, "hashtags")
    }),
    callToAction: Schema.optionalKey(
      Schema.Struct({
        type: choice(["none", "learnMore", "order", "book", "call", "signUp", "shop"], "none"),
        url: Schema.optionalKey(WebUrl)
      })
    ),
    textEditable: flag(false),
    mediaEditable: flag(false),
    scheduling: Schema.optionalKey(
      Schema.Struct({
        allowed: flag(false),
        earliestAt: Schema.optionalKey(Timestamp),
        latestAt: Schema.optionalKey(Timestamp)
      })
    ),
    boosting: Schema.optionalKey(
      Schema.Struct({
        allowed: flag(false),
        minBudget: Schema.optionalKey(Money),
        maxBudget: Schema.optionalKey(Money)
      })
    )
  },
  ({ boosting, scheduling }) => [
    ...unless(
      inOrder(scheduling?.earliestAt, scheduling?.latestAt),
      "scheduling.latestAt",
      "notInOrder",
      "latestAt must not be before earliestAt"
    ),
    ...budgets(boosting?.minBudget, boosting?.maxBudget)
  ]
)

const budgets = (minimum: Money | undefined, maximum: Money | undefined) =>
  minimum === undefined || maximum === undefined
    ? []
    : minimum.currency !== maximum.currency
      ? unless(false, "boosting.maxBudget.currency", "otherCurrency", `maxBudget must be in ${minimum.currency} too`)
      : unless(
          minimum.amountMinor <= maximum.amountMinor,
          "boosting.maxBudget",
          "notInOrder",
          "maxBudget must not be less than minBudget"
        )
