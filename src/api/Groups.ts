import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import {
  DuplicateGroupNameError,
  Group,
  GroupCreate,
  GroupId,
  GroupNotFoundError,
  PartialGroup,
  sortable
} from "../domain/people/Group.ts"
import { LocationNotFoundError } from "../domain/locations/Location.ts"
import { UserNotFoundError } from "../domain/people/User.ts"
import { group, operation } from "./Describe.ts"
import * as Bulk from "./writes/Bulk.ts"
import * as Delta from "./changes/Delta.ts"
import * as History from "./changes/History.ts"
import * as Restore from "./changes/Restore.ts"
import { groupRead } from "./Included.ts"
import * as Envelope from "./Envelope.ts"
import { limits, ofManyRecords } from "./Limits.ts"
import * as Records from "./Records.ts"
import * as Relations from "./Relations.ts"

const uuid = { uuid: GroupId }
const users = Relations.between("groups", "users")
const locations = Relations.between("groups", "locations")

/** Sets of users and locations. */
export class GroupsApi extends HttpApiGroup.make("groups")
  .add(
    HttpApiEndpoint.get("list", "/", Records.listIncluding(Group, sortable, groupRead)).pipe(
      operation("read:groups", "List groups", "A page of groups with their member counts. The total is exact.")
    ),
    HttpApiEndpoint.post("create", "/", {
      payload: GroupCreate,
      success: Envelope.Created(GroupId),
      error: [DuplicateGroupNameError, UserNotFoundError, LocationNotFoundError]
    }).pipe(
      operation(
        "create:groups",
        "Create a new group",
        "`name` is required. `users` and `locations` also need `update:users` and `update:locations`."
      )
    ),
    HttpApiEndpoint.post(
      "bulk",
      "/bulk",
      Bulk.bulk({
        name: "Group",
        id: GroupId,
        create: GroupCreate,
        patch: PartialGroup,
        key: "name",
        errors: [GroupNotFoundError, DuplicateGroupNameError, UserNotFoundError, LocationNotFoundError]
      })
    ).pipe(
      Bulk.writing("groups", "groups", {
        also: " `users` and `locations` also need `update:users` and `update:locations`."
      })
    ),
    HttpApiEndpoint.get("delta", "/delta", Delta.delta(GroupId, Group, "Group")).pipe(
      Delta.mirroring("read:groups", "groups")
    ),
    HttpApiEndpoint.get("get", "/:uuid", Records.getIncluding(GroupId, groupRead, GroupNotFoundError)).pipe(
      operation("read:groups", "Get a group", "The group with its member counts.")
    ),
    HttpApiEndpoint.post(
      "restore",
      "/:uuid/restore",
      Restore.restoration(GroupId, GroupNotFoundError, [DuplicateGroupNameError])
    ).pipe(Restore.restoring("groups", "group"), limits(ofManyRecords)),
    HttpApiEndpoint.get("history", "/:uuid/history", History.history(GroupId, GroupNotFoundError)).pipe(
      History.describing("read:groups", "group")
    ),
    HttpApiEndpoint.patch("update", "/:uuid", {
      params: uuid,
      payload: PartialGroup,
      success: Envelope.Written(GroupId),
      error: [GroupNotFoundError, DuplicateGroupNameError, UserNotFoundError, LocationNotFoundError]
    }).pipe(
      operation(
        "update:groups",
        "Update a group",
        "Absent members are unchanged, `null` clears. `users` and `locations` replace all members and also need `update:users` and `update:locations`."
      )
    ),
    HttpApiEndpoint.delete("delete", "/:uuid", Records.remove(GroupId, GroupNotFoundError)).pipe(
      operation("delete:groups", "Delete a group", "Removes the group and its memberships, but not its members."),
      limits(ofManyRecords)
    ),
    HttpApiEndpoint.get("listUsers", "/:uuid/users", users.list).pipe(users.listing),
    HttpApiEndpoint.put("updateUsers", "/:uuid/users", users.replacement).pipe(users.replacing),
    HttpApiEndpoint.get("listLocations", "/:uuid/locations", locations.list).pipe(locations.listing),
    HttpApiEndpoint.put("updateLocations", "/:uuid/locations", locations.replacement).pipe(locations.replacing)
  )
  .prefix("/v1/groups")
  .annotateMerge(group("Groups", "Sets of users and locations, for example regions.")) {}
