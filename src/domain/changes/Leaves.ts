/** A JSON value. */
export type Json = unknown

/** The value of a member before and after a change; absent where it is unset. */
export interface Leaf {
  readonly path: string
  readonly before?: Json
  readonly after?: Json
}

const isObject = (value: Json): value is Readonly<Record<string, Json>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** An empty list is the same as an unset member. */
const isUnset = (value: Json) => value === undefined || value === null || (Array.isArray(value) && value.length === 0)

/** The text of a value, equal for equal values: PostgreSQL stores the members of objects in one order. */
const textOf = (value: Json) => (isUnset(value) ? "" : JSON.stringify(value))

const membersOf = (value: Json) => (isObject(value) ? Object.keys(value) : [])

const hasMembers = (value: Json) => isObject(value) || isUnset(value)

/** The members that differ, to the leaves; a list is one leaf. */
export const differing = (path: string, before: Json, after: Json): ReadonlyArray<Leaf> => {
  if (hasMembers(before) && hasMembers(after)) {
    const names = new Set([...membersOf(before), ...membersOf(after)])
    const at = (value: Json, name: string) => (isObject(value) ? value[name] : undefined)
    return [...names].flatMap((name) => differing(`${path}.${name}`, at(before, name), at(after, name)))
  }
  if (textOf(before) === textOf(after)) return []
  return [{ path, ...(isUnset(before) ? {} : { before }), ...(isUnset(after) ? {} : { after }) }]
}
