import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { GroupNotFoundError } from "../domain/people/Group.ts"
import { InvalidLocaleError } from "../domain/schema/Locale.ts"
import { LocationNotFoundError } from "../domain/locations/Location.ts"
import {
  EmailNotUniqueError,
  PartialUser,
  sortable,
  User,
  UserCreate,
  UserLogin,
  UsernameNotUniqueError,
  UserNotFoundError
} from "../domain/people/User.ts"
import { UserId } from "../domain/people/UserId.ts"
import { requires } from "./Authorization.ts"
import { describe, group, operation } from "./Describe.ts"
import * as Bulk from "./writes/Bulk.ts"
import * as Delta from "./changes/Delta.ts"
import * as History from "./changes/History.ts"
import * as Restore from "./changes/Restore.ts"
import { userRead } from "./Included.ts"
import * as Envelope from "./Envelope.ts"
import { limits, ofManyRecords } from "./Limits.ts"
import { flag } from "./ListQuery.ts"
import * as Records from "./Records.ts"
import * as Relations from "./Relations.ts"

const uuid = { uuid: UserId }
const guarded = "needs `update:user-roles`, if the service guards roles"
const ofNew = `\`locations\` and \`groups\` also need \`update:locations\` and \`update:groups\`. A \`role\` other than \`ROLE_USER\` also ${guarded}.`
const erase = flag("Also removes the values of the events of the user.")
const writeErrors = [InvalidLocaleError, UsernameNotUniqueError, EmailNotUniqueError] as const
const locations = Relations.between("users", "locations")
const groups = Relations.between("users", "groups")

/** The people who work with the brand's material. */
export class UsersApi extends HttpApiGroup.make("users")
  .add(
    HttpApiEndpoint.get("list", "/", Records.listIncluding(User, sortable, userRead)).pipe(
      operation("read:users", "List users", "A page of users, sorted and filtered. The total is exact.")
    ),
    HttpApiEndpoint.post("create", "/", {
      payload: UserCreate,
      success: Envelope.Created(UserId),
      error: [...writeErrors, LocationNotFoundError, GroupNotFoundError]
    }).pipe(operation("create:users", "Create a new user", `\`username\` and \`email\` are required. ${ofNew}`)),
    HttpApiEndpoint.post(
      "bulk",
      "/bulk",
      Bulk.bulk({
        name: "User",
        id: UserId,
        create: UserCreate,
        patch: PartialUser,
        key: "username",
        errors: [UserNotFoundError, ...writeErrors, LocationNotFoundError, GroupNotFoundError]
      })
    ).pipe(Bulk.writing("users", "users", { also: ` ${ofNew}` })),
    HttpApiEndpoint.get("delta", "/delta", Delta.delta(UserId, User, "User")).pipe(
      Delta.mirroring("read:users", "users")
    ),
    HttpApiEndpoint.get("get", "/:uuid", Records.getIncluding(UserId, userRead, UserNotFoundError)).pipe(
      operation("read:users", "Get a user", "The user. Members that are not set are absent.")
    ),
    HttpApiEndpoint.post(
      "restore",
      "/:uuid/restore",
      Restore.restoration(UserId, UserNotFoundError, [UsernameNotUniqueError, EmailNotUniqueError])
    ).pipe(Restore.restoring("users", "user", ` A change of the \`role\` also ${guarded}.`), limits(ofManyRecords)),
    HttpApiEndpoint.get("history", "/:uuid/history", History.history(UserId, UserNotFoundError)).pipe(
      History.describing("read:users", "user")
    ),
    HttpApiEndpoint.patch("update", "/:uuid", {
      params: uuid,
      payload: PartialUser,
      success: Envelope.Written(UserId),
      error: [UserNotFoundError, ...writeErrors]
    }).pipe(
      operation(
        "update:users",
        "Update a user",
        `Absent members are unchanged, \`null\` clears. \`status\` can change from pending to active, and between active and suspended. \`role\` also ${guarded}.`
      )
    ),
    HttpApiEndpoint.delete("delete", "/:uuid", {
      ...Records.remove(UserId, UserNotFoundError),
      query: { erase: Schema.optionalKey(erase) }
    }).pipe(
      operation(
        "delete:users",
        "Delete a user",
        "Removes the user and its memberships; the username and the e-mail address can be used again at once. With `erase=true`, which also needs `delete:events`, the values of its events are removed as well."
      ),
      limits(ofManyRecords)
    ),
    HttpApiEndpoint.post("erase", "/:uuid/erase", {
      params: uuid,
      success: Envelope.Written(UserId),
      error: UserNotFoundError
    }).pipe(
      requires("delete:users", "delete:events"),
      describe(
        "Erase a deleted user",
        "Removes the values of the events of a user that was deleted: its names, addresses and other members. What remains is that there were events. The erasure is an event itself, `user.erased`. Backups made before still have the values. A deleted user has no `ETag`, so that the response to a request with `If-Match` is 412."
      ),
      limits(ofManyRecords)
    ),
    HttpApiEndpoint.post("recordLogin", "/:uuid/logins", {
      params: uuid,
      payload: UserLogin,
      success: Envelope.Written(UserId),
      error: UserNotFoundError
    }).pipe(
      operation(
        "update:users",
        "Record a login",
        "Sets `lastLoginAt` of the user if `at` is later. `editedAt` is unchanged, and a login is not in the change log."
      )
    ),
    HttpApiEndpoint.get("listLocations", "/:uuid/locations", locations.list).pipe(locations.listing),
    HttpApiEndpoint.put("updateLocations", "/:uuid/locations", locations.replacement).pipe(locations.replacing),
    HttpApiEndpoint.get("listGroups", "/:uuid/groups", groups.list).pipe(groups.listing),
    HttpApiEndpoint.put("updateGroups", "/:uuid/groups", groups.replacement).pipe(groups.replacing)
  )
  .prefix("/v1/users")
  .annotateMerge(
    group("Users", "The people who work with the brand's material, and the locations and groups they belong to.")
  ) {}
