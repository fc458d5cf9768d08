import { Schema } from "effect"
import { text, Timestamp } from "../../schema/Fields.ts"
import { choice, list, partUuid, visibleName } from "../ModuleFields.ts"
import * as Module from "../ModuleShape.ts"
import { UserId } from "../../schema/UserId.ts"

const Person = Schema.Struct({ uuid: UserId, name: visibleName("users") })
type Person = (typeof Person)["Encoded"]

const Entry = Schema.Struct({
  uuid: partUuid,
  body: text(5000, { multiline: true }),
  author: Schema.optionalKey(Person),
  status: choice(["active", "resolved"], "active"),
  createdAt: Module.mark(Timestamp, { fill: "now" })
})

/** A person who is still there; what they said stays when they go. */
const person = (someone: Person | undefined, look: Module.Lookup): Person | undefined => {
  const facts = someone === undefined ? undefined : look("users", someone.uuid)
  return facts === undefined ? undefined : { ...someone!, ...facts }
}

const withPerson = <A extends object, const Name extends string>(rest: A, name: Name, found: Person | undefined) =>
  (found === undefined ? rest : { ...rest, [name]: found }) as A & { readonly [K in Name]?: Person }

/** What the people behind the product tell each other. */
export const InternalCommentModule = Module.make(
  "internal-comment",
  {
    comment: Schema.optionalKey(
      text(10_000, { multiline: true }).pipe(Schema.annotateEncoded({ description: "Markdown." }))
    ),
    visibility: choice(["admins", "managers"], "admins"),
    editedBy: Schema.optionalKey(Person),
    thread: list(Entry, { max: 500, of: "entries", uniqueBy: "uuid", sortBy: "createdAt" }).annotate({
      description: "Newest last."
    })
  },
  {
    resolve: ({ editedBy, thread, ...settings }, look) =>
      withPerson(
        {
          ...settings,
          thread: thread.map(({ author, ...entry }) => withPerson(entry, "author", person(author, look)))
        },
        "editedBy",
        person(editedBy, look)
      )
  }
)
