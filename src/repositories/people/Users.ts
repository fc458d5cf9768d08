import { Context, Effect, Layer } from "effect"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import type { GroupNotFoundError } from "../../domain/people/Group.ts"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import type { LocationNotFoundError } from "../../domain/locations/Location.ts"
import { noPrecondition, type Precondition } from "../../domain/query/Precondition.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import {
  EmailNotUniqueError,
  PartialUser,
  User,
  UserCreate,
  UsernameNotUniqueError,
  UserNotFoundError
} from "../../domain/people/User.ts"
import type { UserId } from "../../domain/schema/UserId.ts"
import type { ListRequest } from "../../sql/Listing.ts"
import { Memberships } from "./Memberships.ts"
import * as Records from "../../sql/Records.ts"
import { Sql } from "../../sql/Sql.ts"
import { byConstraint, transaction } from "../../sql/SqlErrors.ts"

type Refused = UsernameNotUniqueError | EmailNotUniqueError | InvalidLocaleError | InvalidRequestError

/** The people, in PostgreSQL. */
export class Users extends Context.Service<
  Users,
  {
    get(uuid: UserId): Effect.Effect<Encoded<User>, UserNotFoundError>
    list(request: ListRequest): Effect.Effect<EncodedPage<User>>
    /** Creates the user and what it belongs to, or nothing. */
    create(user: UserCreate): Effect.Effect<UserId, Refused | LocationNotFoundError | GroupNotFoundError>
    update(
      uuid: UserId,
      patch: PartialUser,
      precondition: Precondition
    ): Effect.Effect<UserId, UserNotFoundError | Refused>
    delete(uuid: UserId, precondition: Precondition): Effect.Effect<UserId, UserNotFoundError>
  }
>()("waypost/repositories/people/Users") {
  static readonly layer = Layer.effect(
    Users,
    Effect.gen(function* () {
      const locales = yield* Locales
      const memberships = yield* Memberships
      const { pooled } = yield* Sql
      const records = yield* Records.make({
        table: "users",
        record: User,
        create: UserCreate,
        patch: PartialUser
      })

      const withLanguage = Effect.fnUntraced(function* <U extends UserCreate | PartialUser>(user: U) {
        if (user.languageCode === undefined) return user
        return { ...user, languageCode: yield* locales.checkLanguage(user.languageCode) }
      })

      const defaults = { status: "active", role: "ROLE_USER", languageCode: locales.defaultLanguage } as const

      const refusals = (user: PartialUser) =>
        byConstraint({
          users_username_key: () => UsernameNotUniqueError.of(user.username ?? ""),
          users_email_key: () => EmailNotUniqueError.of(user.email ?? ""),
          users_external_id_key: () => externalIdTaken,
          users_status_move: () => forbiddenMove
        })

      const get = Effect.fnUntraced(function* (uuid: UserId) {
        return yield* Effect.fromOption(yield* records.get(uuid), () => UserNotFoundError.of(uuid))
      })

      const create = Effect.fnUntraced(function* (user: UserCreate) {
        const { groups, locations, ...fields } = user
        return yield* transaction(
          pooled,
          Effect.gen(function* () {
            // Who does not exist is told before a rule that the request breaks.
            if (locations !== undefined) yield* memberships.known("locations", locations)
            if (groups !== undefined) yield* memberships.known("groups", groups)
            const complete = { ...defaults, ...(yield* withLanguage(fields)) }
            const uuid = (yield* records.insert(complete).pipe(refusals(complete))).uuid as UserId
            if (locations !== undefined)
              yield* memberships.replace("users", uuid, "locations", locations, noPrecondition)
            if (groups !== undefined) yield* memberships.replace("users", uuid, "groups", groups, noPrecondition)
            return uuid
          })
        ).pipe(Effect.catchTag("UserNotFoundError", Effect.die))
      })

      const update = Effect.fnUntraced(function* (uuid: UserId, patch: PartialUser, precondition: Precondition) {
        const checked = yield* Effect.tapError(withLanguage(patch), () =>
          Effect.flatMap(records.checkPrecondition(uuid, precondition), (found) =>
            found ? Effect.void : Effect.fail(UserNotFoundError.of(uuid))
          )
        )
        const { found } = yield* records.patch(uuid, checked, precondition).pipe(refusals(patch))
        return found ? uuid : yield* UserNotFoundError.of(uuid)
      })

      const remove = Effect.fnUntraced(function* (uuid: UserId, precondition: Precondition) {
        const found = yield* memberships.withRelationLock("users", records.remove(uuid, precondition))
        return found ? uuid : yield* UserNotFoundError.of(uuid)
      })

      return Users.of({ get, list: records.list, create, update, delete: remove })
    })
  )
}

const externalIdTaken = InvalidRequestError.of([
  { in: "body", path: "externalId", code: "notUnique", message: "Another user already has this externalId" }
])

const forbiddenMove = InvalidRequestError.of([
  {
    in: "body",
    path: "status",
    code: "forbiddenMove",
    message: "status moves from pending to active, and between active and suspended"
  }
])
