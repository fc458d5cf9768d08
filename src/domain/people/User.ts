import { Schema } from "effect"
import { ApiError } from "../write/ApiError.ts"
import { documented } from "../schema/Checks.ts"
import { CountryCode } from "../schema/Country.ts"
import { Email, Phone, text, Timestamp, visible } from "../schema/Fields.ts"
import { normalise } from "../schema/Normalise.ts"
import { GroupId } from "./Group.ts"
import { LocationId } from "../locations/Location.ts"
import { allNotFound, manyNotFoundError, notFound } from "../write/NotFound.ts"
import { members } from "../write/Relations.ts"
import { UserId } from "./UserId.ts"
import { defaulted, readOnly } from "../write/Markers.ts"
import * as Shape from "../write/Shape.ts"

/** ISO 639-1, two letters in lower case. Whether the language is valid is `Locales.check`'s to say. */
const LanguageCode = Schema.String.check(documented({ pattern: "^[A-Za-z]{2}$" })).pipe(
  Schema.decodeTo(
    Schema.String,
    normalise((value) => value.trim().toLowerCase())
  ),
  Schema.annotateEncoded({ examples: ["nl"], description: "ISO 639-1, two letters." })
)

/** A person who works with the brand's material; authentication of people is not this API's job. */
export const User = Schema.Struct({
  uuid: readOnly(UserId),
  username: text(100)
    .check(visible)
    .pipe(Schema.annotateEncoded({ description: "Unique among users, case-insensitive.", examples: ["anna.devries"] })),
  email: Email.pipe(
    Schema.annotateEncoded({ description: "Unique among users, case-insensitive.", examples: ["anna@example.com"] })
  ),
  firstName: Schema.optionalKey(text(100).pipe(Schema.annotateEncoded({ examples: ["Anna"] }))),
  lastName: Schema.optionalKey(text(100).pipe(Schema.annotateEncoded({ examples: ["de Vries"] }))),
  status: defaulted(
    Schema.Literals(["pending", "active", "suspended"]).annotate({
      description: "Moves from pending to active, and between active and suspended."
    })
  ),
  role: defaulted(Schema.Literals(["ROLE_USER", "ROLE_MANAGER", "ROLE_ADMIN", "ROLE_SUPER_ADMIN"])),
  // The default comes from the settings.
  languageCode: defaulted(LanguageCode),
  countryCode: Schema.optionalKey(CountryCode),
  phone: Schema.optionalKey(Phone),
  externalId: Schema.optionalKey(
    text(255).pipe(Schema.annotateEncoded({ description: "Its id in the customer's own system; unique when set." }))
  ),
  lastLoginAt: Schema.optionalKey(readOnly(Timestamp)),
  createdAt: readOnly(Timestamp),
  editedAt: readOnly(Timestamp)
}).annotate({ identifier: "UserRecord" })
export type User = typeof User.Type

/** The role of users that are created without one. */
export const defaultRole: User["role"] = "ROLE_USER"

const relations = {
  locations: members(LocationId),
  groups: members(GroupId)
}

/** What creates a user, with the locations and groups it belongs to from the start. */
export const UserCreate = Schema.Struct({ ...Shape.create(User).fields, ...relations }).annotate({
  identifier: "UserCreate"
})
export type UserCreate = typeof UserCreate.Type

export const PartialUser = Shape.patch(User).annotate({ identifier: "PartialUser" })
export type PartialUser = typeof PartialUser.Type

/** What a row of a file changes in a user; `locations` and `groups` are the whole new sets. */
export const UserChange = Schema.Struct({ ...PartialUser.fields, ...relations })
export type UserChange = typeof UserChange.Type

/** A sign-in that another system reports; without `at` it is now. */
export const UserLogin = Schema.Struct({
  at: Schema.optionalKey(Schema.NullOr(Timestamp)).annotateKey({
    description: "When the user signed in, at most a day after the clock of the service; now if it is left out."
  })
}).annotate({ identifier: "UserLogin" })
export type UserLogin = typeof UserLogin.Type

export class UserNotFoundError extends ApiError<UserNotFoundError>()(...manyNotFoundError("UserNotFoundError")) {
  static of = (uuid: string) => new UserNotFoundError(notFound("user", uuid))
  static ofAll = (uuids: ReadonlyArray<string>) => new UserNotFoundError(allNotFound("user", uuids))
}

export class UsernameNotUniqueError extends ApiError<UsernameNotUniqueError>()(
  "UsernameNotUniqueError",
  { message: Schema.String, value: Schema.String },
  { httpApiStatus: 409 }
) {
  static of = (value: string) =>
    new UsernameNotUniqueError({ message: `Another user already has the username "${value}"`, value })
}

export class EmailNotUniqueError extends ApiError<EmailNotUniqueError>()(
  "EmailNotUniqueError",
  { message: Schema.String, value: Schema.String },
  { httpApiStatus: 409 }
) {
  static of = (value: string) =>
    new EmailNotUniqueError({ message: `Another user already has the e-mail address "${value}"`, value })
}

export const sortable = ["username", "email", "firstName", "lastName", "status", "createdAt", "editedAt"] as const
