import { Effect } from "effect"
import { hash } from "node:crypto"
import type { Precondition } from "../domain/query/Precondition.ts"
import { PreconditionFailedError } from "../domain/write/RequestErrors.ts"

/**
 * The entity tag of a JSON text, or of bytes. It is computed from the answer and not from a version column, so it also
 * changes with members that other rows contribute.
 */
export const entityTag = (json: string | Uint8Array): string => `"${digest(json)}"`

const digest = (json: string | Uint8Array) => hash("sha1", json, "base64url")

/** A record without some members. */
const without = (json: string, members: ReadonlyArray<string>) =>
  JSON.stringify(JSON.parse(json), (member, value: unknown) => (members.includes(member) ? undefined : value))

/**
 * The entity tag of a record whose members `passing` change without a write. It changes with them too, but only its begin, which is
 * of the other members, is a precondition.
 */
export const lastingTag =
  (passing: ReadonlyArray<string>) =>
  (json: string): string =>
    `"${digest(without(json, passing))}.${digest(json)}"`

/**
 * The entity tag of a page, which is weak because the order of members in equal records may differ. That of a list of
 * relations begins with the tag of the whole set, so that any page of it is a precondition for the replacement of the set,
 * but for one with a selection of members.
 */
export const pageTag = (page: Uint8Array, setTag: string | undefined): string =>
  setTag === undefined ? `W/${entityTag(page)}` : `W/"${setTag}.${entityTag(page).slice(1)}`

/** The entity tag in the answer to a replacement. */
export const setEntityTag = (setTag: string): string => `W/"${setTag}"`

/**
 * The tags of sets of relations among those of a precondition. Weak tags count, because they identify the set exactly. The tag
 * of the record is none of them: it stays the same while the relations change.
 */
export const setTagsOf = (precondition: Precondition): ReadonlyArray<string> | undefined =>
  precondition?.flatMap((tag) => /^(?:W\/)?"([^".]*)(?:\.[^"]*)?"$/.exec(tag)?.[1] ?? [])

/**
 * Whether `If-None-Match` lists the entity tag, so that the client has the answer. RFC 9110, 13.1.2: weak comparison, so the `W/`
 * of either side does not count.
 */
export const isKnown = (ifNoneMatch: string | undefined, etag: string): boolean => {
  if (ifNoneMatch === undefined) return false
  const opaque = (tag: string) => tag.trim().replace(/^W\//, "")
  return ifNoneMatch.trim() === "*" || ifNoneMatch.split(",").some((tag) => opaque(tag) === opaque(etag))
}

const failed = (message: string) => Effect.die(new PreconditionFailedError({ message }))

/** Ends the request with 412, because the precondition is none of the current set of relations. */
export const setChanged = (list: string): Effect.Effect<never> =>
  failed(
    `The relations have changed, or \`If-Match\` is not an ETag of ${list}; read that list again without \`fields\` and \`include\`, and repeat the request`
  )

const meets = (precondition: Precondition, json: string | undefined) =>
  precondition === undefined || (json !== undefined && precondition.includes(entityTag(json)))

/** Ends the request with 412 unless `json`, the current answer to a read, meets the precondition. A deleted record has none. */
export const checkPrecondition = (
  precondition: Precondition,
  json: string | undefined,
  kind: "record" | "module" | "upload" = "record"
): Effect.Effect<void> =>
  meets(precondition, json)
    ? Effect.void
    : failed(
        kind === "record" && json === undefined
          ? "The record is deleted and has no ETag; send the request without `If-Match`"
          : `The ${kind} has changed since it was read; read it again and repeat the request with the new ETag`
      )

const lasting = (precondition: Precondition) =>
  precondition?.map((tag) => (tag.includes(".") ? `${tag.slice(0, tag.indexOf("."))}"` : tag))

/** Whether `json`, which has a `lastingTag`, meets the precondition. */
export const meetsLasting = (precondition: Precondition, json: string, passing: ReadonlyArray<string>): boolean =>
  meets(lasting(precondition), without(json, passing))

/** Ends the request with 412 unless it does. */
export const checkLasting = (precondition: Precondition, json: string, passing: ReadonlyArray<string>) =>
  checkPrecondition(lasting(precondition), without(json, passing))
