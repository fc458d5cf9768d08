import { Schema } from "effect"
import { distinct } from "../../schema/Distinct.ts"
import { Email, text, Timestamp } from "../../schema/Fields.ts"
import { choice, flag, inOrder, list, unless } from "../ModuleFields.ts"
import { readOnly, withDefault } from "../../write/Markers.ts"
import * as Module from "../ModuleShape.ts"
import { int } from "../../schema/WholeNumber.ts"

const maxQuantity = 1_000_000_000
const onHand = withDefault(int(-maxQuantity, maxQuantity), 0)
const amount = withDefault(int(0, maxQuantity), 0)
const orderQuantity = Schema.optionalKey(int(1, maxQuantity))
const threshold = Schema.optionalKey(int(0, maxQuantity))

const Level = Schema.Struct({ warehouse: text(100), onHand, reserved: amount, incoming: amount })

const counts = ["onHand", "reserved", "incoming"] as const

/** How many of the product can be ordered. */
export const availableOf = ({ onHand, reserved }: { readonly onHand: number; readonly reserved: number }) =>
  onHand - reserved

/** How many of the product there are. */
export const StockModule = Module.make(
  "stock",
  {
    mode: choice(["none", "trackOnly", "reserveOnOrder", "reserveOnCart"], "none"),
    onHand,
    reserved: amount,
    incoming: amount,
    available: readOnly(Schema.Int).annotate({ description: "onHand less reserved." }),
    allowBackorder: flag(false),
    minOrderQuantity: orderQuantity,
    maxOrderQuantity: orderQuantity,
    orderMultiple: orderQuantity,
    reorderPoint: threshold,
    safetyStock: threshold,
    reservationExpiresAfterMinutes: Schema.optionalKey(int(1, 44_640)),
    restockAt: Schema.optionalKey(Timestamp),
    restockableInDays: Schema.optionalKey(int(0, 3650)),
    notifyEmails: distinct(Email, 10, "e-mail addresses"),
    levels: list(Level, { max: 100, of: "levels", uniqueBy: "warehouse" })
  },
  (settings) => [
    ...[
      { path: "onHand", level: settings },
      ...settings.levels.map((level, index) => ({ path: `levels.${index}.onHand`, level }))
    ].flatMap(({ level, path }) =>
      unless(
        settings.allowBackorder || level.onHand >= 0,
        path,
        "outOfRange",
        "Only with allowBackorder can onHand be below 0"
      )
    ),
    ...unless(
      inOrder(settings.minOrderQuantity, settings.maxOrderQuantity),
      "maxOrderQuantity",
      "notInOrder",
      "maxOrderQuantity must not be less than minOrderQuantity"
    ),
    ...(["minOrderQuantity", "maxOrderQuantity"] as const).flatMap((member) =>
      unless(
        (settings[member] ?? 0) % (settings.orderMultiple ?? 1) === 0,
        member,
        "notMultiple",
        `${member} must be a multiple of orderMultiple`
      )
    ),
    ...(settings.levels.length === 0 ? [] : counts).flatMap((member) => {
      const sum = settings.levels.reduce((total, level) => total + level[member], 0)
      return unless(sum === settings[member], member, "notTheSum", `The levels add up to ${sum}, so ${member} must too`)
    })
  ]
)
