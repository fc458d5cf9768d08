import { Schema } from "effect"
import { SentTimeZone, TimeOfDay, TimeZone } from "../../schema/Time.ts"
import { CountryCode } from "../../schema/Country.ts"
import { distinct } from "../../schema/Distinct.ts"
import { text } from "../../schema/Fields.ts"
import { Money } from "../../schema/Money.ts"
import { flag, inOrder, Key, list, translations, unless } from "../ModuleFields.ts"
import { withDefault, writtenAs } from "../../write/Markers.ts"
import * as Module from "../ModuleShape.ts"
import { int } from "../../schema/WholeNumber.ts"

const days = int(0, 365)
const size = Schema.optionalKey(int(0, 10_000_000))

const Method = Schema.Struct({
  key: Key,
  type: Schema.Literals(["shipping", "pickup", "digital", "email"]),
  translations: translations({ name: text(255) }),
  price: Schema.optionalKey(Money),
  freeFrom: Schema.optionalKey(Money),
  leadTimeDays: Schema.optionalKey(Schema.Struct({ min: days, max: days })),
  countries: distinct(CountryCode, 249, "countries"),
  active: flag(true)
})

/** How the product reaches who ordered it. */
export const DeliveryModule = Module.make(
  "delivery",
  {
    requiresShipping: flag(true),
    methods: list(Method, { max: 20, of: "methods", uniqueBy: "key" }),
    defaultMethod: Schema.optionalKey(
      Key.pipe(Schema.annotateEncoded({ description: "The key of an active method." }))
    ),
    addressSources: withDefault(distinct(Schema.Literals(["address", "legal", "invoice", "custom"]), 4, "sources"), [
      "address"
    ]),
    allowMultipleAddresses: flag(false),
    cutoffTime: Schema.optionalKey(TimeOfDay),
    timezone: Schema.optionalKey(TimeZone).pipe(writtenAs(Schema.optionalKey(Schema.NullOr(SentTimeZone)))),
    weightGrams: size,
    lengthMm: size,
    widthMm: size,
    heightMm: size
  },
  ({ defaultMethod, methods }) => [
    ...methods.flatMap(({ leadTimeDays }, index) =>
      unless(
        inOrder(leadTimeDays?.min, leadTimeDays?.max),
        `methods.${index}.leadTimeDays`,
        "notInOrder",
        "min must not be more than max"
      )
    ),
    ...unless(
      defaultMethod === undefined || methods.some(({ active, key }) => active && key === defaultMethod),
      "defaultMethod",
      "unknownKey",
      "defaultMethod must be the key of an active method"
    )
  ]
)
