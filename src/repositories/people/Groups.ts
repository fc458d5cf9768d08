import { Context, Effect, Layer } from "effect"
import {
  DuplicateGroupNameError,
  Group,
  type GroupCreate,
  GroupNotFoundError,
  type PartialGroup
} from "../../domain/people/Group.ts"
import type { LocationNotFoundError } from "../../domain/locations/Location.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import type { UserNotFoundError } from "../../domain/people/User.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import * as Included from "./Included.ts"
import { Memberships } from "./Memberships.ts"
import * as MemberSets from "./MemberSets.ts"
import type { Batch } from "../../sql/batch/BatchTypes.ts"
import { sql } from "../../sql/Fragment.ts"
import * as Records from "../../sql/Records.ts"
import { Sql } from "../../sql/Sql.ts"
import { byConstraint } from "../../sql/SqlErrors.ts"
import { traced } from "../../sql/Traced.ts"

type Rejected = DuplicateGroupNameError | InvalidRequestError | UserNotFoundError | LocationNotFoundError

/** The groups, in PostgreSQL. A write includes the members that it names. */
export class Groups extends Context.Service<
  Groups,
  Records.Repository<{
    kind: "groups"
    record: Group
    create: GroupCreate
    patch: PartialGroup
    notFound: GroupNotFoundError
    rejected: { create: Rejected; update: Rejected; delete: never }
  }> & { readonly bulk: Batch }
>()("waypost/repositories/people/Groups") {
  static readonly layer = Layer.effect(
    Groups,
    Effect.gen(function* () {
      const memberships = yield* Memberships
      const { pooled } = yield* Sql
      const sets = MemberSets.make("groups", ["users", "locations"], memberships, pooled)
      const records = yield* Records.make({
        kind: "groups",
        table: "groups",
        record: Group,
        notFound: GroupNotFoundError,
        related: Included.make(yield* PublicUrl)("groups", ["users", "locations"])
      })

      const bulk = records.batch({
        key: { member: "name", compared: (name) => sql`waypost_fold(${name})` },
        unique: ["externalId"],
        create: (group: GroupCreate) => Effect.succeed(group),
        update: (patch: PartialGroup) => Effect.succeed(patch),
        relations: memberships.relationsOf("groups", ["users", "locations"]),
        deletes: true
      })

      return traced(Groups, {
        bulk,
        get: records.get,
        list: records.list,
        create: Effect.fnUntraced(
          function* (group) {
            yield* sets.known(group)
            const written = yield* records.insert(group).pipe(constraintErrors(group.name))
            yield* sets.replace(written.uuid, group)
            return written
          },
          (write, group) => sets.inTransaction(group, write),
          Effect.catchTag("GroupNotFoundError", Effect.die)
        ),
        update: Effect.fnUntraced(function* (uuid, patch, precondition) {
          const write = Effect.gen(function* () {
            yield* records.checkPrecondition(uuid, precondition)
            yield* sets.known(patch)
            const written = yield* records.patch(uuid, patch, precondition).pipe(constraintErrors(patch.name))
            const membersChanged = yield* sets.replace(uuid, patch)
            return { ...written, changed: written.changed || membersChanged }
          })
          return yield* sets.inTransaction(patch, write)
        }),
        delete: (uuid, precondition) => memberships.withRelationLock("groups", records.removeNamed(uuid, precondition))
      })
    })
  )
}

/** The errors of the constraints of groups. */
export const constraintErrors = (name: string | undefined) =>
  byConstraint({
    groups_name_key: () => DuplicateGroupNameError.of(name ?? ""),
    groups_external_id_key: () => externalIdTaken
  })

const externalIdTaken = InvalidRequestError.inBody(
  "externalId",
  "notUnique",
  "Another group already has this externalId"
)
