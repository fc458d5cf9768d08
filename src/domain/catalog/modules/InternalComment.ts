import { Schema } from "effect"
import { text, Timestamp } from "../../schema/Fields.ts"
import { choice, list, partUuid } from "../ModuleFields.ts"
import { generated, references, visibleName } from "../../write/Markers.ts"
import * as Module from "../ModuleShape.ts"
import { UserId } from "../../people/UserId.ts"

const Person = Schema.Struct({ uuid: UserId.pipe(references("users")), name: visibleName("users") })

const Entry = Schema.Struct({
  uuid: partUuid,
  body: text(5000, { multiline: true }),
  author: Schema.optionalKey(Person),
  status: choice(["active", "resolved"], "active"),
  createdAt: generated("now")(Timestamp)
})

/** Comments for the people who manage the product. */
export const InternalCommentModule = Module.make("internal-comment", {
  comment: Schema.optionalKey(
    text(10_000, { multiline: true }).pipe(Schema.annotateEncoded({ description: "Markdown." }))
  ),
  visibility: choice(["admins", "managers"], "admins"),
  editedBy: Schema.optionalKey(Person),
  thread: list(Entry, { max: 500, of: "entries", uniqueBy: "uuid", sortBy: "createdAt" }).annotate({
    description: "Newest last."
  })
})
