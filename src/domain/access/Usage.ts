import { Record, Schema } from "effect"
import { managedPermissions, managedTypes } from "../changes/RecordType.ts"
import { Uuid } from "../schema/Fields.ts"
import { openWords } from "../schema/OpenWords.ts"
import { Count } from "../schema/WholeNumber.ts"

const [first, ...others] = managedTypes

/** A record that refers to another one. */
export const RecordUsage = Schema.Struct({
  type: openWords([first!, ...others]),
  uuid: Uuid,
  label: Schema.optionalKey(
    Schema.String.annotate({ description: "The name, title, username or key of the record.", examples: ["Flyer A5"] })
  ),
  path: Schema.String.annotate({
    description:
      "The member that refers: `author`, `modules.permissions.groups`; of a membership `users`, `groups` or `locations`.",
    examples: ["modules.permissions.groups"]
  })
}).annotate({ identifier: "RecordUsage" })
export type RecordUsage = typeof RecordUsage.Type

/** How many usages there are, by the type of the records that refer; a type without any is absent. */
export const UsageCounts = Schema.Struct(Record.map(managedPermissions, () => Schema.optionalKey(Count))).annotate({
  identifier: "UsageCounts",
  description:
    "How many usages there are by type, also of types that the key may not read; a type without any is absent.",
  examples: [{ product: 2, post: 1 }]
})
export type UsageCounts = typeof UsageCounts.Type
