import { Schema } from "effect"
import { atMost } from "../schema/Checks.ts"
import { unloggedMembers } from "../changes/Leaves.ts"
import { fieldsOf } from "../query/FilterFields.ts"
import { Location } from "./Location.ts"

/** The members of a location that its events have, also those with members of their own; a list and the media are one. */
const members: ReadonlySet<string> = new Set(
  fieldsOf(Location)
    .filter(({ segments: [first] }) => !unloggedMembers.has(first!))
    .flatMap(({ lists: [list], segments }) => {
      const path = segments.slice(0, segments[0] === "media" ? 1 : list)
      return path.map((_, index) => path.slice(0, index + 1).join("."))
    })
)

const Path = Schema.String.check(
  Schema.makeFilter<string>((path) => members.has(path), {
    expected: "a member of a location, such as contact or contact.phone; a list and media are one member",
    code: "notAllowed"
  })
)

/** The members whose values are removed from past events. */
export const HistoryErasure = Schema.Struct({
  paths: Schema.Array(Path)
    .check(Schema.isMinLength(1, { expected: "at least one path", code: "required" }), atMost(100, "paths"))
    .pipe(Schema.annotateEncoded({ examples: [["contact.phone"]] }))
}).annotate({ identifier: "HistoryErasure" })
export type HistoryErasure = typeof HistoryErasure.Type
