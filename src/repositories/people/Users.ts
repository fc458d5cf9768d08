import { Context, Effect, Layer, Option } from "effect"
import type { GroupNotFoundError } from "../../domain/people/Group.ts"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import type { LocationNotFoundError } from "../../domain/locations/Location.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import type { UserId } from "../../domain/people/UserId.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import * as Written from "../../domain/write/Written.ts"
import {
  defaultRole,
  EmailNotUniqueError,
  type PartialUser,
  User,
  type UserChange,
  type UserCreate,
  type UserLogin,
  UsernameNotUniqueError,
  UserNotFoundError
} from "../../domain/people/User.ts"
import * as UserErasures from "../changes/UserErasures.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import * as Included from "./Included.ts"
import { loginAhead, loginSql, type RecordedLogin } from "./Logins.ts"
import { Memberships } from "./Memberships.ts"
import * as MemberSets from "./MemberSets.ts"
import type { Batch } from "../../sql/batch/BatchTypes.ts"
import { sql } from "../../sql/Fragment.ts"
import type { EncodedPage } from "../../domain/schema/Encoded.ts"
import type { ListRequest } from "../../sql/lists/Listing.ts"
import { checkPrecondition } from "../../sql/EntityTag.ts"
import * as Records from "../../sql/Records.ts"
import type { Answer } from "../access/Audiences.ts"
import { Sql } from "../../sql/Sql.ts"
import { byConstraint } from "../../sql/SqlErrors.ts"
import { transaction } from "../../sql/Transactions.ts"
import { traced } from "../../sql/Traced.ts"

type Rejected = UsernameNotUniqueError | EmailNotUniqueError | InvalidLocaleError | InvalidRequestError

type UnknownRelation = LocationNotFoundError | GroupNotFoundError

/** The users, in PostgreSQL. A user is created with its locations and groups. */
export class Users extends Context.Service<
  Users,
  Records.Repository<{
    kind: "users"
    record: User
    create: UserCreate
    patch: PartialUser
    notFound: UserNotFoundError
    rejected: { create: Rejected | UnknownRelation; update: Rejected; delete: never }
  }> & {
    readonly bulk: Batch
    /** Patches the user, and replaces the sets of its locations and groups that are given. */
    change(
      uuid: UserId,
      change: UserChange,
      precondition: Precondition
    ): Effect.Effect<Written.Written<"users", UserId>, UserNotFoundError | Rejected | UnknownRelation>
    /** A page of the users that are the answer to a question of access, if its record exists. */
    listWithin(answer: Answer, request: ListRequest): Effect.Effect<Option.Option<EncodedPage<User>>>
    /** Sets when the user last signed in; an earlier login changes nothing. */
    recordLogin(
      uuid: UserId,
      login: UserLogin,
      precondition: Precondition
    ): Effect.Effect<Written.Written<"users", UserId>, UserNotFoundError | InvalidRequestError>
    /** Deletes the user, and removes the values of its events. */
    deleteAndErase(
      uuid: UserId,
      precondition: Precondition
    ): Effect.Effect<Written.Written<"users", UserId>, UserNotFoundError>
    /** Removes the values of the events of a user that was deleted. */
    erase(
      uuid: UserId,
      precondition: Precondition
    ): Effect.Effect<Written.Written<"users", UserId>, UserNotFoundError | InvalidRequestError>
  }
>()("waypost/repositories/people/Users") {
  static readonly layer = Layer.effect(
    Users,
    Effect.gen(function* () {
      const locales = yield* Locales
      const memberships = yield* Memberships
      const { pooled } = yield* Sql
      const sets = MemberSets.make("users", ["locations", "groups"], memberships, pooled)
      const erasures = UserErasures.make(pooled)
      const records = yield* Records.make({
        kind: "users",
        table: "users",
        record: User,
        notFound: UserNotFoundError,
        related: Included.make(yield* PublicUrl)("users", ["locations", "groups"])
      })

      const withLanguage = Effect.fnUntraced(function* <U extends UserCreate | PartialUser>(user: U) {
        if (user.languageCode === undefined) return user
        return { ...user, languageCode: yield* locales.checkLanguage(user.languageCode) }
      })

      const defaults = { status: "active", role: defaultRole, languageCode: locales.defaultLanguage } as const

      const withDefaults = (user: UserCreate) => Effect.map(withLanguage(user), (user) => ({ ...defaults, ...user }))

      const bulk = records.batch({
        key: { member: "username", compared: (name) => sql`waypost_fold(${name})` },
        unique: ["email", "externalId"],
        create: withDefaults,
        update: withLanguage<PartialUser>,
        relations: memberships.relationsOf("users", ["locations", "groups"]),
        deletes: true
      })

      /** Fails unless the user existed and was deleted. */
      const checkDeleted = Effect.fnUntraced(function* (uuid: UserId, precondition: Precondition) {
        const current = Option.getOrUndefined(yield* records.find(uuid))
        if (current === undefined && !(yield* erasures.isKnown(uuid))) return yield* UserNotFoundError.of(uuid)
        yield* checkPrecondition(precondition, current)
        if (current !== undefined) return yield* stillExists
      })

      const update = Effect.fnUntraced(function* (uuid: UserId, patch: PartialUser, precondition: Precondition) {
        const checked = yield* Effect.tapError(withLanguage(patch), () => records.checkPrecondition(uuid, precondition))
        return yield* records.patch(uuid, checked, precondition).pipe(constraintErrors(patch))
      })

      return traced(Users, {
        bulk,
        get: records.get,
        list: records.list,
        listWithin: (answer, request) => records.listWithin(answer.scope, request, answer),
        create: Effect.fnUntraced(
          function* (user) {
            yield* sets.known(user)
            const complete = yield* withDefaults(user)
            const written = yield* records.insert(complete).pipe(constraintErrors(complete))
            yield* sets.replace(written.uuid, user)
            return written
          },
          (write, user) => sets.inTransaction(user, write),
          Effect.catchTag("UserNotFoundError", Effect.die)
        ),
        update,
        change: Effect.fnUntraced(
          function* (uuid, change, precondition) {
            yield* records.checkPrecondition(uuid, precondition)
            yield* sets.known(change)
            const written = yield* update(uuid, change, precondition)
            const areReplaced = yield* sets.replace(uuid, change)
            return { ...written, changed: written.changed || areReplaced }
          },
          (write, _, change) => sets.inTransaction(change, write)
        ),
        delete: (uuid, precondition) => memberships.withRelationLock("users", records.remove(uuid, precondition)),
        deleteAndErase: Effect.fnUntraced(function* (uuid, precondition) {
          yield* records.checkPrecondition(uuid, precondition)
          const found = yield* erasures.search(uuid)
          const removed = Effect.tap(records.remove(uuid, precondition), () => erasures.erase(uuid, found))
          return yield* memberships.withRelationLock("users", removed)
        }),
        erase: Effect.fnUntraced(function* (uuid, precondition) {
          yield* checkDeleted(uuid, precondition)
          const found = yield* erasures.search(uuid)
          // The user can have been restored during the search.
          const steps = [erasures.lock(uuid), checkDeleted(uuid, precondition), erasures.erase(uuid, found)] as const
          yield* transaction(pooled, Effect.all(steps), { waitsForLocks: true })
          return Written.deleted("users", uuid)
        }),
        recordLogin: Effect.fnUntraced(function* (uuid, { at }, precondition) {
          const recorded = pooled<RecordedLogin>`${loginSql(uuid, at)}`
          const [row] = yield* Effect.orDie(records.guard(uuid, recorded, precondition))
          if (!row!.found) return yield* UserNotFoundError.of(uuid)
          if (row!.isAhead) return yield* loginAhead
          return Written.updated("users", uuid, row!.changed)
        })
      })
    })
  )
}

/** The errors of the constraints of users. */
export const constraintErrors = (user: PartialUser) =>
  byConstraint({
    users_username_key: () => UsernameNotUniqueError.of(user.username ?? ""),
    users_email_key: () => EmailNotUniqueError.of(user.email ?? ""),
    users_external_id_key: () => externalIdTaken,
    users_status_move: () => forbiddenMove
  })

const stillExists = InvalidRequestError.at(
  "path",
  "uuid",
  "notDeleted",
  "The user exists; to delete it and erase its history, use DELETE /v1/users/{uuid}?erase=true"
)

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
