import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { noPrecondition } from "../../domain/query/Precondition.ts"
import type { RelationKind } from "../../domain/write/Relations.ts"
import { transaction } from "../../sql/Transactions.ts"
import type { Memberships } from "./Memberships.ts"

/** What writes of a kind of record do with the sets of members that they name. */
export const make = <Owner extends RelationKind, Member extends Exclude<RelationKind, Owner>>(
  owner: Owner,
  members: ReadonlyArray<Member>,
  memberships: Memberships["Service"],
  pooled: SqlClient.SqlClient
) => {
  type Sets = { readonly [M in Member]?: ReadonlyArray<string> | undefined }
  const named = (sets: Sets) =>
    members.flatMap((member) => {
      const uuids = sets[member]
      return uuids === undefined ? [] : [{ member, uuids }]
    })
  return {
    /** Reports unknown members before a rule that the request breaks. */
    known: (sets: Sets) =>
      Effect.forEach(named(sets), ({ member, uuids }) => memberships.known(member, uuids), { discard: true }),
    /** Whether the sets changed. The precondition was met when the write began; it has changed the record since. */
    replace: (uuid: string, sets: Sets) =>
      Effect.map(
        Effect.forEach(named(sets), ({ member, uuids }) =>
          memberships.replace(owner, uuid, member, uuids, noPrecondition)
        ),
        (written) => written.some(({ changed }) => changed)
      ),
    inTransaction: <A, E>(sets: Sets, write: Effect.Effect<A, E>) =>
      named(sets).length === 0 ? transaction(pooled, write) : memberships.withRelationLock(owner, write)
  }
}
