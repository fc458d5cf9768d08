import { Group } from "../../domain/people/Group.ts"
import { Location } from "../../domain/locations/Location.ts"
import { User } from "../../domain/people/User.ts"
import type { PublicUrl } from "../../settings/PublicUrl.ts"
import { type Column, columnsOf } from "../../sql/Columns.ts"
import { sql } from "../../sql/Fragment.ts"
import { type Answers, newestOf } from "../../sql/Selected.ts"
import { computedOf } from "../locations/LocationMedia.ts"
import { columns as names, tableOf } from "./RelationTables.ts"
import type { RelationKind } from "../../domain/write/Relations.ts"

/** What the answer of a kind of record can include: users, locations and groups that belong to it. */
export const make = (publicUrl: PublicUrl["Service"]) => {
  const columns: Readonly<Record<RelationKind, ReadonlyArray<Column>>> = {
    users: columnsOf(User),
    locations: columnsOf(Location, computedOf(publicUrl)),
    groups: columnsOf(Group)
  }

  /** A group has counts of its own. */
  const countOf = (owner: RelationKind, member: RelationKind): ReadonlyArray<Column> =>
    owner === "groups"
      ? []
      : [
          {
            member: `${member.slice(0, -1)}Count`,
            name: undefined,
            kind: "number",
            sql: sql.literal(
              `(select count(*)::int from ${tableOf(owner, member)} m where m.${names[owner]} = t.uuid)`
            ),
            fields: []
          }
        ]

  return (owner: RelationKind, members: ReadonlyArray<RelationKind>): Answers["related"] =>
    Object.fromEntries(
      members.map((member) => {
        const rows = sql.literal(
          `${tableOf(owner, member)} m join ${member} t on t.uuid = m.${names[member]} where m.${names[owner]} = owner.uuid`
        )
        return [member, [newestOf({ member, columns: columns[member], rows }), ...countOf(owner, member)]]
      })
    )
}
