import { Schema } from "effect"
import { decimal, Timestamp, Uuid } from "../../schema/Fields.ts"
import { AmountMinor, Currency } from "../../schema/Money.ts"
import { choice, flag, inOrder, list, unless } from "../ModuleFields.ts"
import { references, withDefault } from "../../write/Markers.ts"
import * as Module from "../ModuleShape.ts"
import { int } from "../../schema/WholeNumber.ts"

const tiers = list(
  Schema.Struct({ minimumQuantity: int(2, 1_000_000_000).annotate({ examples: [100] }), amountMinor: AmountMinor }),
  {
    max: 50,
    of: "tiers"
  }
).annotate({ description: "Strictly rising; a tier applies to the whole quantity." })

const window = { validFrom: Schema.optionalKey(Timestamp), validUntil: Schema.optionalKey(Timestamp) }
type Window = { readonly [K in keyof typeof window]?: string }

const Override = Schema.Struct({
  scope: Schema.Literals(["group", "location"]),
  uuid: Uuid.pipe(references({ by: "scope", kinds: { group: "groups", location: "locations" } })),
  amountMinor: AmountMinor,
  tiers,
  ...window
})
type Override = (typeof Override)["Encoded"]

const risingTiers = (list: ReadonlyArray<{ readonly minimumQuantity: number }>, path: string) =>
  list.flatMap(({ minimumQuantity }, index) =>
    unless(
      index === 0 || minimumQuantity > list[index - 1]!.minimumQuantity,
      `${path}.${index}.minimumQuantity`,
      "notInOrder",
      "minimumQuantity must rise from tier to tier"
    )
  )

const windowInOrder = ({ validFrom, validUntil }: Window, path: string) =>
  unless(inOrder(validFrom, validUntil, true), `${path}validUntil`, "notInOrder", "validUntil must be after validFrom")

const overlap = (a: Window, b: Window) =>
  inOrder(a.validFrom, b.validUntil, true) && inOrder(b.validFrom, a.validUntil, true)

/** A problem for each override whose period overlaps that of an earlier one for the same group or location. */
const overlapping = (overrides: ReadonlyArray<Override>) => {
  const ofScope = new Map<string, Array<Override>>()
  return overrides.flatMap((override, index) => {
    const before = ofScope.get(`${override.scope} ${override.uuid}`) ?? []
    ofScope.set(`${override.scope} ${override.uuid}`, [...before, override])
    return unless(
      !before.some((other) => overlap(other, override)),
      `overrides.${index}`,
      "overlap",
      `Another override of the same ${override.scope} is valid at the same time`
    )
  })
}

/** What the product costs. */
export const PriceModule = Module.make(
  "price",
  {
    model: choice(["free", "fixed", "tiered", "onRequest"], "free"),
    currency: withDefault(Currency, "EUR"),
    amountMinor: Schema.optionalKey(AmountMinor),
    unit: choice(["piece", "set", "page", "squareMetre", "hour"], "piece"),
    unitQuantity: withDefault(int(1, 1_000_000_000), 1).annotate({ description: "The price is per this many units." }),
    taxRatePercent: Schema.optionalKey(decimal(0, 100, 2)),
    taxIncluded: flag(false),
    tiers,
    overrides: list(Override, { max: 1000, of: "overrides" }).annotate({
      description: "What a location or a group pays instead; a location beats a group."
    }),
    ...window,
    costCenterRequired: flag(false)
  },
  (settings) => [
    ...unless(
      settings.amountMinor !== undefined || (settings.model !== "fixed" && settings.model !== "tiered"),
      "amountMinor",
      "required",
      `A ${settings.model} price needs an amountMinor`
    ),
    ...risingTiers(settings.tiers, "tiers"),
    ...windowInOrder(settings, ""),
    ...settings.overrides.flatMap((override, index) => [
      ...risingTiers(override.tiers, `overrides.${index}.tiers`),
      ...windowInOrder(override, `overrides.${index}.`)
    ]),
    ...overlapping(settings.overrides)
  ]
)
