import { type Fragment, sql } from "../../sql/Fragment.ts"

/** Who may see something: a user, or a location, as any user at it. */
export type Subject = "users" | "locations"

/** What a subject can have access to. */
export type Resource = "products" | "posts"

/** Which subjects see one product or post, or what one subject sees. */
export interface Question {
  readonly subject: Subject
  readonly resource: Resource
  /** Which side is one record. */
  readonly fixed: "resource" | "subject"
  /** The uuid of the one record. */
  readonly uuid: Fragment
  /** Whether the question is about one pair of records, `o` and `t`. */
  readonly isPair?: true
}

/** What an access list names where a rule has no list: everyone, and the mode of a locations module. */
export const everyone = sql`'00000000-0000-0000-0000-000000000000'::uuid`

const columns = {
  users: {
    subject: "user_uuid",
    groups: ["user_groups", "group_uuid"],
    locations: ["user_locations", "location_uuid"]
  },
  locations: { subject: "location_uuid", groups: ["group_locations", "group_uuid"], locations: ["locations", "uuid"] }
} as const

export const lists = ["groups", "locations"] as const
export type List = (typeof lists)[number]

/** The rows `b` of the groups or locations that subjects belong to; a location is its own. */
export const belongings = (subject: Subject, list: List) => {
  const [table, named] = columns[subject][list]
  return {
    from: sql.literal(`${table} b`),
    subject: table === "locations" ? "b.uuid" : `b.${columns[subject].subject}`,
    named: sql.literal(`b.${named}`)
  }
}
