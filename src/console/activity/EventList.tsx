import { type Json, objectOf, objectsIn } from "../../domain/schema/Json.ts"
import { textOf, valueAt } from "../data/Calls.ts"
import { resourceOfType } from "../definition/Resources.ts"
import { RecordLink } from "../shell/RecordLink.tsx"
import { Cell } from "../table/Cell.tsx"
import { useFormats, useNames, useWords } from "../words/Words.tsx"

/** A member before and after a change, where it is set; of a relation, how many records were removed and added. */
export const useSides = () => {
  const formats = useFormats()
  const side = (value: unknown) => (value === undefined ? undefined : <Cell value={value} />)
  return ({ added, after, before, removed }: Json) =>
    Array.isArray(added) && Array.isArray(removed)
      ? { before: `− ${formats.number(removed.length)}`, after: `+ ${formats.number(added.length)}` }
      : { before: side(before), after: side(after) }
}

/** A change in a line. */
export const Change = ({ change }: { readonly change: Json }) => {
  const names = useNames()
  const { after, before } = useSides()(change)
  return (
    <>
      {names.path(textOf(change["path"]))}: <del>{before}</del> <ins>{after}</ins>
    </>
  )
}

/** What an event did, by the last word of its type. */
export const useDeed = () => {
  const { deeds } = useWords()
  return (type: string) => {
    const deed = type.slice(type.lastIndexOf(".") + 1)
    return deeds[deed] ?? deed
  }
}

const EventLine = ({ event }: { readonly event: Json }) => {
  const names = useNames()
  const words = useWords()
  const formats = useFormats()
  const deed = useDeed()
  const record = objectOf(event["record"])
  const resource = resourceOfType(record["type"])
  const changes = objectsIn(event["changes"])
  const actor = textOf(valueAt(event, "actor.name"))
  const type = textOf(event["type"])
  return (
    <li>
      <time dateTime={textOf(event["occurredAt"])}>{formats.time(textOf(event["occurredAt"]))}</time>{" "}
      <RecordLink record={record} />{" "}
      <span className="deed">
        {resource === undefined ? textOf(record["type"]) : names.one(resource.name)} {deed(type)}
      </span>{" "}
      {actor === "" ? null : <span className="hint">{words.by(actor)}</span>}
      {type.endsWith(".updated") ? (
        <span className="changes">
          {changes.slice(0, 3).map((change) => (
            <span key={textOf(change["path"])}>
              <Change change={change} />
            </span>
          ))}
        </span>
      ) : null}
    </li>
  )
}

/** Events in the order in which they are given. */
export const EventList = ({ events }: { readonly events: ReadonlyArray<Json> }) => (
  <ul className="events">
    {events.map((event) => (
      <EventLine key={textOf(event["id"])} event={event} />
    ))}
  </ul>
)
