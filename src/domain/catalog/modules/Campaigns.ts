import { Schema } from "effect"
import { text, Timestamp } from "../../schema/Fields.ts"
import { choice, Color, flag, inOrder, Key, list, partUuid, unless } from "../ModuleFields.ts"
import { references } from "../../write/Markers.ts"
import * as Module from "../ModuleShape.ts"
import { UserId } from "../../people/UserId.ts"

const Campaign = Schema.Struct({
  uuid: partUuid,
  key: Key,
  name: text(255),
  description: Schema.optionalKey(text(5000, { multiline: true })),
  status: choice(["draft", "scheduled", "active", "closed", "archived"], "draft"),
  startsAt: Timestamp,
  endsAt: Timestamp,
  deadlineAt: Schema.optionalKey(Timestamp),
  responsibleUserUuid: Schema.optionalKey(UserId.pipe(references("users"))),
  participation: choice(["optional", "mandatory"], "optional"),
  color: Schema.optionalKey(Color)
})

/** The campaigns the product belongs to. */
export const CampaignsModule = Module.make(
  "campaigns",
  {
    campaigns: list(Campaign, { max: 100, of: "campaigns", uniqueBy: "key" }),
    onlyDuringCampaign: flag(false).annotate({ description: "Whether it can only be ordered while one is active." })
  },
  ({ campaigns }) =>
    campaigns.flatMap(({ deadlineAt, endsAt, startsAt }, index) => [
      ...unless(
        inOrder(startsAt, endsAt, true),
        `campaigns.${index}.endsAt`,
        "notInOrder",
        "endsAt must be after startsAt"
      ),
      ...unless(
        inOrder(deadlineAt, endsAt),
        `campaigns.${index}.deadlineAt`,
        "notInOrder",
        "deadlineAt must not be after endsAt"
      )
    ])
)
