import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { MissingPermissionsError } from "../../../domain/keys/ApiKey.ts"
import { Group } from "../../../domain/people/Group.ts"
import { defaultRole, User } from "../../../domain/people/User.ts"
import { ownerSetting } from "../../../sql/ChangeSetting.ts"
import { withLongTimeout } from "../../../sql/connections/ManyRecords.ts"
import { sql } from "../../../sql/Fragment.ts"
import * as Groups from "../../people/Groups.ts"
import { columns, tableOf } from "../../people/RelationTables.ts"
import * as Users from "../../people/Users.ts"
import { columnsToRestore, missing, type Target, writeRow } from "./Restoration.ts"
import type { RelationKind } from "../../../domain/write/Relations.ts"

/** Gives a record that was deleted its relations back, of which it can have any number, if the key may update their other side. */
export const relate = Effect.fnUntraced(function* (
  client: SqlClient.SqlClient,
  kind: RelationKind,
  { exists, permissions, place, uuid }: Target,
  members: ReadonlyArray<RelationKind>
) {
  if (exists) return []
  const restored = Effect.forEach(members, (member) => {
    const names = sql.literal(`${tableOf(kind, member)} (${columns[kind]}, ${columns[member]})`)
    const isAllowed = permissions.has(`update:${member}`)
    const statement = client<{ readonly missing: number }>`
      with had as materialized (
        select member from (
          select distinct on (member) member, added
          from waypost_relinked(${uuid}::uuid, ${kind}::text, ${place}, '-infinity') changed
          where path = ${member}::text order by member, place
        ) oldest where not added
      ), related as (
        insert into ${names} select ${uuid}::uuid, member from had
          where ${isAllowed}::boolean and exists (select from ${sql.literal(member)} m where m.uuid = had.member)
          order by member returning 1
      ) select ((select count(*) from had) - (select count(*) from related))::int as missing, ${ownerSetting(kind)}`
    return Effect.map(statement, ([row]) => [member, row!.missing] as const)
  })
  return yield* withLongTimeout(client, restored)
})

const userColumns = columnsToRestore(User)
/** An existing user keeps its last login, which is not logged. */
const existingUserColumns = columnsToRestore(User, { left: ["lastLoginAt"] })
const groupColumns = columnsToRestore(Group)

/** With `guardsRoles`, a role that is not the one the user has needs a permission, or that of a new user. */
export const user = (client: SqlClient.SqlClient, guardsRoles: boolean) =>
  Effect.fnUntraced(function* (target: Target) {
    const { state, uuid } = target
    const [current] = yield* client<{ readonly role: string }>`select role from users where uuid = ${uuid}`
    const guarded = "update:user-roles" as const
    if (guardsRoles && state["role"] !== (current?.role ?? defaultRole) && !target.permissions.has(guarded)) {
      return yield* MissingPermissionsError.of([guarded], [guarded])
    }
    const identity = { username: String(state["username"]), email: String(state["email"]) }
    const changed = yield* writeRow(client, "users", target.exists ? existingUserColumns : userColumns, target).pipe(
      Users.constraintErrors(identity)
    )
    return { changed, missing: missing(...(yield* relate(client, "users", target, ["locations", "groups"]))) }
  })

export const group = (client: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (target: Target) {
    const name = String(target.state["name"])
    const changed = yield* writeRow(client, "groups", groupColumns, target).pipe(Groups.constraintErrors(name))
    return { changed, missing: missing(...(yield* relate(client, "groups", target, ["users", "locations"]))) }
  })
