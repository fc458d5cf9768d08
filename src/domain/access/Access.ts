import { Schema } from "effect"
import { actions } from "./Actions.ts"
import { Uuid } from "../schema/Fields.ts"
import { openWords } from "../schema/OpenWords.ts"
import type { RecordType } from "../changes/RecordType.ts"

const types = ["user", "location", "group", "product", "post"] as const satisfies ReadonlyArray<RecordType>

/** The rules in their order. A question about a post has `postState`, `postDates` and `audience`. */
const ruleCodes = [
  "userState",
  "productState",
  "productDates",
  "permissionsModule",
  "groups",
  "locations",
  "locationsModule",
  "campaign",
  "inheritance",
  "postState",
  "postDates",
  "audience"
] as const

const Decision = Schema.Literals(["allow", "deny"])

export const AccessReason = Schema.Struct({
  code: openWords(ruleCodes),
  effect: Decision.annotate({
    description: "What the rule decides. Of `campaign` it is about the action `order` only.",
    examples: ["deny"]
  }),
  message: Schema.String.annotate({
    description: "What the rule found and, if it denies, what to change.",
    examples: ["The user anna.devries has the status suspended; set it to active"]
  }),
  record: Schema.optionalKey(
    Schema.Struct({
      type: openWords(types),
      uuid: Uuid,
      label: Schema.optionalKey(
        Schema.String.annotate({
          description: "Its name, title or username, if the key may read records of the type.",
          examples: ["anna.devries"]
        })
      )
    }).annotate({ description: "The record that decides, or that has the setting." })
  ),
  path: Schema.optionalKey(
    Schema.String.annotate({ description: "The member of the record that decides.", examples: ["status"] })
  )
}).annotate({ identifier: "AccessReason" })
export type AccessReason = typeof AccessReason.Type

export const Access = Schema.Struct({
  decision: Decision.annotate({ description: "Whether the product or post can be seen." }),
  actions: Schema.Array(openWords(actions)).annotate({
    description: "What can be done with it; of a post `view`. Empty if it cannot be seen.",
    examples: [["view", "order"]]
  }),
  reasons: Schema.Array(AccessReason).annotate({ description: "Every rule that was looked at, in its order." })
}).annotate({ identifier: "Access" })
export type Access = typeof Access.Type
