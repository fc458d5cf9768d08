import { Predicate } from "effect"

/** The members of records that events do not have. */
export const unloggedMembers: ReadonlySet<string> = new Set(["uuid", "createdAt", "editedAt"])

/** The value of a member before and after a change; absent where it is unset. */
export interface Leaf {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

/** An empty list is the same as an unset member. */
const isUnset = (value: unknown) =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0)

/** The text of a value, equal for equal values: PostgreSQL stores the members of objects in one order. */
const textOf = (value: unknown) => (isUnset(value) ? "" : JSON.stringify(value))

const membersOf = (value: unknown) => (Predicate.isObject(value) ? Object.keys(value) : [])

const hasMembers = (value: unknown) => Predicate.isObject(value) || isUnset(value)

/** The members that differ, to the leaves; a list is one leaf. */
export const differing = (path: string, before: unknown, after: unknown): ReadonlyArray<Leaf> => {
  if (hasMembers(before) && hasMembers(after)) {
    const names = new Set([...membersOf(before), ...membersOf(after)])
    const at = (value: unknown, name: string) => (Predicate.isObject(value) ? value[name] : undefined)
    return [...names].flatMap((name) => differing(`${path}.${name}`, at(before, name), at(after, name)))
  }
  if (textOf(before) === textOf(after)) return []
  return [{ path, ...(isUnset(before) ? {} : { before }), ...(isUnset(after) ? {} : { after }) }]
}
