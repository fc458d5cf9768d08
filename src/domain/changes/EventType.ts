import { Schema } from "effect"
import { type RecordType, recordTypes } from "./RecordType.ts"

export const actions = ["created", "updated", "deleted", "restored"] as const
export type Action = (typeof actions)[number] | "erased"

/** Keys and webhooks are not restored. */
const actionsOf = (type: RecordType) =>
  type === "apiKey" || type === "webhook" ? actions.filter((action) => action !== "restored") : actions

/** Every type of event: `location.updated`. */
export const eventTypes: ReadonlyArray<string> = [
  ...recordTypes.flatMap((type) => actionsOf(type).map((action) => `${type}.${action}`)),
  "user.erased"
]

export const EventType = Schema.String.annotate({
  identifier: "EventType",
  description: `\`<record type>.<created|updated|deleted|restored>\`, or \`user.erased\`. Later releases may add types.`,
  examples: ["location.updated"]
})

/** Whether a pattern such as `location.*`, `*.deleted` or `*` selects a type of event. */
const selects = (pattern: string) => {
  const [record, action = record] = pattern.split(".")
  return (type: string) => {
    const [ofType, did] = type.split(".")
    return (record === "*" || record === ofType) && (action === "*" || action === did)
  }
}

/** The types of event that a pattern selects; none if it is not a pattern of types. */
export const selectedBy = (pattern: string): ReadonlyArray<string> =>
  /^(?:\*|[A-Za-z]+\.\*|(?:\*|[A-Za-z]+)\.[a-z]+)$/.test(pattern) ? eventTypes.filter(selects(pattern)) : []

/** Every pattern of types. */
const patterns = [
  ...eventTypes,
  ...recordTypes.map((type) => `${type}.*`),
  ...[...actions, "erased"].map((action) => `*.${action}`),
  "*"
]

/** One pattern of types. */
export const TypePattern = Schema.Literals(patterns).annotate({
  expected: "a type of event, such as location.updated, location.*, *.deleted or *"
})
