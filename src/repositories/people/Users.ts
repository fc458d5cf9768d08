import { Context, Effect, Layer } from "effect"
import type { GroupNotFoundError } from "../../domain/people/Group.ts"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import type { LocationNotFoundError } from "../../domain/locations/Location.ts"
import { noPrecondition } from "../../domain/query/Precondition.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import {
  EmailNotUniqueError,
  type PartialUser,
  User,
  type UserCreate,
  UsernameNotUniqueError,
  UserNotFoundError
} from "../../domain/people/User.ts"
import { Memberships } from "./Memberships.ts"
import * as Records from "../../sql/Records.ts"
import { Sql } from "../../sql/Sql.ts"
import { byConstraint, transaction } from "../../sql/SqlErrors.ts"
import { traced } from "../../sql/Traced.ts"

type Rejected = UsernameNotUniqueError | EmailNotUniqueError | InvalidLocaleError | InvalidRequestError

/** The users, in PostgreSQL. A user is created with its locations and groups. */
export class Users extends Context.Service<
  Users,
  Records.Repository<{
    kind: "users"
    record: User
    create: UserCreate
    patch: PartialUser
    notFound: UserNotFoundError
    rejected: { create: Rejected | LocationNotFoundError | GroupNotFoundError; update: Rejected; delete: never }
  }>
>()("waypost/repositories/people/Users") {
  static readonly layer = Layer.effect(
    Users,
    Effect.gen(function* () {
      const locales = yield* Locales
      const memberships = yield* Memberships
      const { pooled } = yield* Sql
      const records = yield* Records.make({
        kind: "users",
        table: "users",
        record: User,
        notFound: UserNotFoundError
      })

      const withLanguage = Effect.fnUntraced(function* <U extends UserCreate | PartialUser>(user: U) {
        if (user.languageCode === undefined) return user
        return { ...user, languageCode: yield* locales.checkLanguage(user.languageCode) }
      })

      const defaults = { status: "active", role: "ROLE_USER", languageCode: locales.defaultLanguage } as const

      const constraintErrors = (user: PartialUser) =>
        byConstraint({
          users_username_key: () => UsernameNotUniqueError.of(user.username ?? ""),
          users_email_key: () => EmailNotUniqueError.of(user.email ?? ""),
          users_external_id_key: () => externalIdTaken,
          users_status_move: () => forbiddenMove
        })

      return traced(Users, {
        get: records.get,
        list: records.list,
        create: Effect.fnUntraced(
          function* ({ groups, locations, ...fields }) {
            // Unknown references are reported before a rule that the request breaks.
            if (locations !== undefined) yield* memberships.known("locations", locations)
            if (groups !== undefined) yield* memberships.known("groups", groups)
            const complete = { ...defaults, ...(yield* withLanguage(fields)) }
            const written = yield* records.insert(complete).pipe(constraintErrors(complete))
            const { uuid } = written
            if (locations !== undefined)
              yield* memberships.replace("users", uuid, "locations", locations, noPrecondition)
            if (groups !== undefined) yield* memberships.replace("users", uuid, "groups", groups, noPrecondition)
            return written
          },
          (write) => transaction(pooled, write),
          Effect.catchTag("UserNotFoundError", Effect.die)
        ),
        update: Effect.fnUntraced(function* (uuid, patch, precondition) {
          const checked = yield* Effect.tapError(withLanguage(patch), () =>
            records.checkPrecondition(uuid, precondition)
          )
          return yield* records.patch(uuid, checked, precondition).pipe(constraintErrors(patch))
        }),
        delete: (uuid, precondition) => memberships.withRelationLock("users", records.remove(uuid, precondition))
      })
    })
  )
}

const externalIdTaken = InvalidRequestError.inBody(
  "externalId",
  "notUnique",
  "Another user already has this externalId"
)

const forbiddenMove = InvalidRequestError.inBody(
  "status",
  "forbiddenMove",
  "status moves from pending to active, and between active and suspended"
)
