import { Schema } from "effect"
import { ApiError } from "../write/ApiError.ts"
import { text, Timestamp, Uuid } from "../schema/Fields.ts"
import { LocationId } from "../locations/Location.ts"
import { allNotFound, manyNotFoundError, notFound } from "../write/NotFound.ts"
import { members } from "../write/Relations.ts"
import { UserId } from "./UserId.ts"
import { readOnly } from "../write/Markers.ts"
import { Count } from "../schema/WholeNumber.ts"
import * as Shape from "../write/Shape.ts"

export const GroupId = Uuid.pipe(Schema.brand("GroupId"))
export type GroupId = typeof GroupId.Type

/** A set of users and locations, for example a region or a formula. */
export const Group = Schema.Struct({
  uuid: readOnly(GroupId),
  name: text(150).pipe(
    Schema.annotateEncoded({ description: "Unique among groups, case-insensitive.", examples: ["Region North"] })
  ),
  description: Schema.optionalKey(
    text(1000, { multiline: true }).pipe(Schema.annotateEncoded({ examples: ["All branches north of the rivers"] }))
  ),
  externalId: Schema.optionalKey(
    text(255).pipe(Schema.annotateEncoded({ description: "Its id in the customer's own system; unique when set." }))
  ),
  userCount: readOnly(Count.annotate({ description: "How many users belong to it.", examples: [12] })),
  locationCount: readOnly(Count.annotate({ description: "How many locations belong to it.", examples: [40] })),
  createdAt: readOnly(Timestamp),
  editedAt: readOnly(Timestamp)
}).annotate({ identifier: "GroupRecord" })
export type Group = typeof Group.Type

const relations = {
  users: members(UserId),
  locations: members(LocationId)
}

/** What creates a group, with its first members. */
export const GroupCreate = Schema.Struct({ ...Shape.create(Group).fields, ...relations }).annotate({
  identifier: "GroupCreate"
})
export type GroupCreate = typeof GroupCreate.Type

/** What changes a group; `users` and `locations` are the whole new sets. */
export const PartialGroup = Schema.Struct({ ...Shape.patch(Group).fields, ...relations }).annotate({
  identifier: "PartialGroup"
})
export type PartialGroup = typeof PartialGroup.Type

export class GroupNotFoundError extends ApiError<GroupNotFoundError>()(...manyNotFoundError("GroupNotFoundError")) {
  static of = (uuid: string) => new GroupNotFoundError(notFound("group", uuid))
  static ofAll = (uuids: ReadonlyArray<string>) => new GroupNotFoundError(allNotFound("group", uuids))
}

export class DuplicateGroupNameError extends ApiError<DuplicateGroupNameError>()(
  "DuplicateGroupNameError",
  { message: Schema.String, name: Schema.String },
  { httpApiStatus: 400 }
) {
  static of = (name: string) =>
    new DuplicateGroupNameError({ message: `Another group already has the name "${name}"`, name })
}

export const sortable = ["name", "userCount", "locationCount", "createdAt", "editedAt"] as const
