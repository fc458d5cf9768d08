import { Context, Effect, Layer } from "effect"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import {
  DuplicateGroupNameError,
  Group,
  GroupCreate,
  type GroupId,
  GroupNotFoundError,
  PartialGroup
} from "../../domain/people/Group.ts"
import type { LocationNotFoundError } from "../../domain/locations/Location.ts"
import { noPrecondition, type Precondition } from "../../domain/query/Precondition.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import type { UserNotFoundError } from "../../domain/people/User.ts"
import type { ListRequest } from "../../sql/Listing.ts"
import { Memberships } from "./Memberships.ts"
import * as Records from "../../sql/Records.ts"
import { Sql } from "../../sql/Sql.ts"
import { byConstraint, transaction } from "../../sql/SqlErrors.ts"

type Refused = DuplicateGroupNameError | InvalidRequestError | UserNotFoundError | LocationNotFoundError

/** The groups, in PostgreSQL. */
export class Groups extends Context.Service<
  Groups,
  {
    get(uuid: GroupId): Effect.Effect<Encoded<Group>, GroupNotFoundError>
    list(request: ListRequest): Effect.Effect<EncodedPage<Group>>
    /** Creates the group and its members, or nothing. */
    create(group: GroupCreate): Effect.Effect<GroupId, Refused>
    /** Changes the group and its members, or nothing. */
    update(
      uuid: GroupId,
      patch: PartialGroup,
      precondition: Precondition
    ): Effect.Effect<GroupId, GroupNotFoundError | Refused>
    delete(uuid: GroupId, precondition: Precondition): Effect.Effect<GroupId, GroupNotFoundError>
  }
>()("waypost/repositories/people/Groups") {
  static readonly layer = Layer.effect(
    Groups,
    Effect.gen(function* () {
      const memberships = yield* Memberships
      const { pooled } = yield* Sql
      const records = yield* Records.make({
        table: "groups",
        record: Group,
        create: GroupCreate,
        patch: PartialGroup
      })

      const refusals = (name: string | undefined) =>
        byConstraint({
          groups_name_key: () => DuplicateGroupNameError.of(name ?? ""),
          groups_external_id_key: () => externalIdTaken
        })

      const get = Effect.fnUntraced(function* (uuid: GroupId) {
        return yield* Effect.fromOption(yield* records.get(uuid), () => GroupNotFoundError.of(uuid))
      })

      // The precondition was met when the write began; the write has changed the group since.
      const replaceMembers = Effect.fnUntraced(function* (uuid: GroupId, { locations, users }: PartialGroup) {
        if (users !== undefined) yield* memberships.replace("groups", uuid, "users", users, noPrecondition)
        if (locations !== undefined) yield* memberships.replace("groups", uuid, "locations", locations, noPrecondition)
      })

      /** Who does not exist is told before a rule that the request breaks. */
      const knownMembers = Effect.fnUntraced(function* ({ locations, users }: PartialGroup) {
        if (users !== undefined) yield* memberships.known("users", users)
        if (locations !== undefined) yield* memberships.known("locations", locations)
      })

      const create = Effect.fnUntraced(function* (group: GroupCreate) {
        return yield* transaction(
          pooled,
          Effect.gen(function* () {
            yield* knownMembers(group)
            const uuid = (yield* records.insert(group).pipe(refusals(group.name))).uuid as GroupId
            yield* replaceMembers(uuid, group)
            return uuid
          })
        ).pipe(Effect.catchTag("GroupNotFoundError", Effect.die))
      })

      const update = Effect.fnUntraced(function* (uuid: GroupId, patch: PartialGroup, precondition: Precondition) {
        const write = Effect.gen(function* () {
          if (!(yield* records.checkPrecondition(uuid, precondition))) return yield* GroupNotFoundError.of(uuid)
          yield* knownMembers(patch)
          const { found } = yield* records.patch(uuid, patch, precondition).pipe(refusals(patch.name))
          if (!found) return yield* GroupNotFoundError.of(uuid)
          yield* replaceMembers(uuid, patch)
          return uuid
        })
        const hasMembers = patch.users !== undefined || patch.locations !== undefined
        return yield* hasMembers ? memberships.withRelationLock("groups", write) : transaction(pooled, write)
      })

      const remove = Effect.fnUntraced(function* (uuid: GroupId, precondition: Precondition) {
        const found = yield* memberships.withRelationLock("groups", records.remove(uuid, precondition))
        return found ? uuid : yield* GroupNotFoundError.of(uuid)
      })

      return Groups.of({ get, list: records.list, create, update, delete: remove })
    })
  )
}

const externalIdTaken = InvalidRequestError.of([
  { in: "body", path: "externalId", code: "notUnique", message: "Another group already has this externalId" }
])
