import { Context, Effect, Layer } from "effect"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import {
  DuplicateGroupNameError,
  Group,
  type GroupCreate,
  type GroupId,
  GroupNotFoundError,
  type PartialGroup
} from "../../domain/people/Group.ts"
import type { LocationNotFoundError } from "../../domain/locations/Location.ts"
import { noPrecondition, type Precondition } from "../../domain/query/Precondition.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import type { Written } from "../../domain/write/Written.ts"
import type { UserNotFoundError } from "../../domain/people/User.ts"
import type { ListRequest } from "../../sql/Listing.ts"
import { Memberships } from "./Memberships.ts"
import * as Records from "../../sql/Records.ts"
import { Sql } from "../../sql/Sql.ts"
import { byConstraint, transaction } from "../../sql/SqlErrors.ts"

type Rejected = DuplicateGroupNameError | InvalidRequestError | UserNotFoundError | LocationNotFoundError

type WrittenGroup = Written<"groups", GroupId>

/** The groups, in PostgreSQL. */
export class Groups extends Context.Service<
  Groups,
  {
    get(uuid: GroupId): Effect.Effect<Encoded<Group>, GroupNotFoundError>
    list(request: ListRequest): Effect.Effect<EncodedPage<Group>>
    /** Creates the group with its members in one transaction. */
    create(group: GroupCreate): Effect.Effect<WrittenGroup, Rejected>
    /** Changes the group and its members in one transaction. */
    update(
      uuid: GroupId,
      patch: PartialGroup,
      precondition: Precondition
    ): Effect.Effect<WrittenGroup, GroupNotFoundError | Rejected>
    delete(uuid: GroupId, precondition: Precondition): Effect.Effect<WrittenGroup, GroupNotFoundError>
  }
>()("waypost/repositories/people/Groups") {
  static readonly layer = Layer.effect(
    Groups,
    Effect.gen(function* () {
      const memberships = yield* Memberships
      const { pooled } = yield* Sql
      const records = yield* Records.make({
        kind: "groups",
        table: "groups",
        record: Group,
        notFound: GroupNotFoundError
      })

      const constraintErrors = (name: string | undefined) =>
        byConstraint({
          groups_name_key: () => DuplicateGroupNameError.of(name ?? ""),
          groups_external_id_key: () => externalIdTaken
        })

      /** Whether the members changed. The precondition was met when the write began; it has changed the group since. */
      const replaceMembers = Effect.fnUntraced(function* (uuid: GroupId, { locations, users }: PartialGroup) {
        const replace = (member: "users" | "locations", members: ReadonlyArray<string> | undefined) =>
          members === undefined
            ? Effect.succeed(false)
            : Effect.map(memberships.replace("groups", uuid, member, members, noPrecondition), ({ changed }) => changed)
        const usersChanged = yield* replace("users", users)
        return (yield* replace("locations", locations)) || usersChanged
      })

      /** Unknown members are reported before a rule that the request breaks. */
      const knownMembers = Effect.fnUntraced(function* ({ locations, users }: PartialGroup) {
        if (users !== undefined) yield* memberships.known("users", users)
        if (locations !== undefined) yield* memberships.known("locations", locations)
      })

      const create = Effect.fn("Groups.create")(
        function* (group: GroupCreate) {
          yield* knownMembers(group)
          const written = yield* records.insert(group).pipe(constraintErrors(group.name))
          yield* replaceMembers(written.uuid, group)
          return written
        },
        (write) => transaction(pooled, write),
        Effect.catchTag("GroupNotFoundError", Effect.die)
      )

      const update = Effect.fn("Groups.update")(function* (
        uuid: GroupId,
        patch: PartialGroup,
        precondition: Precondition
      ) {
        const write = Effect.gen(function* () {
          yield* records.checkPrecondition(uuid, precondition)
          yield* knownMembers(patch)
          const written = yield* records.patch(uuid, patch, precondition).pipe(constraintErrors(patch.name))
          const membersChanged = yield* replaceMembers(uuid, patch)
          return { ...written, changed: written.changed || membersChanged }
        })
        const hasMembers = patch.users !== undefined || patch.locations !== undefined
        return yield* hasMembers ? memberships.withRelationLock("groups", write) : transaction(pooled, write)
      })

      const remove = Effect.fn("Groups.delete")((uuid: GroupId, precondition: Precondition) =>
        memberships.withRelationLock("groups", records.remove(uuid, precondition))
      )

      return Groups.of({ get: records.get, list: records.list, create, update, delete: remove })
    })
  )
}

const externalIdTaken = InvalidRequestError.inBody(
  "externalId",
  "notUnique",
  "Another group already has this externalId"
)
