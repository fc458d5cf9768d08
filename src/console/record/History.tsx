import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useDeed, useSides } from "../activity/EventList.tsx"
import { messageOf, useMessage } from "../shell/Failure.tsx"
import { Listed } from "../shell/Listed.tsx"
import { useNotify } from "../shell/Notices.tsx"
import { type Json, objectsIn } from "../../domain/schema/Json.ts"
import { call, textOf, valueAt } from "../data/Calls.ts"
import { type List, type Part, useParts } from "../data/Lists.ts"
import type { Resource } from "../definition/Definition.ts"
import type { Read } from "../form/EditForm.tsx"
import { useSession } from "../session/Session.tsx"
import { useFormats, useNames, useWords } from "../words/Words.tsx"

const Change = ({ change }: { readonly change: Json }) => {
  const words = useWords()
  const names = useNames()
  const { after, before } = useSides()(change)
  const unset = <em>{words.unset}</em>
  return (
    <tr>
      <th scope="row">{names.path(textOf(change["path"]))}</th>
      <td>
        <del>{before ?? unset}</del>
      </td>
      <td>
        <ins>{after ?? unset}</ins>
      </td>
    </tr>
  )
}

interface Props {
  readonly resource: Resource
  readonly uuid: string
}

/** The changes of a record, the latest first. They are read again while `lacks` returns true for the first of them. */
export const useChanges = ({ resource, uuid }: Props, lacks: (changes: ReadonlyArray<Json>) => boolean): List<Part> =>
  useParts({ action: resource.actions.history!, uuids: [uuid] }, { order: "desc" }, lacks)

interface ChangesProps extends Props {
  readonly list: List<Part>
  /** The tag of the record as it was read, if it exists. */
  readonly etag?: string | undefined
}

/** What changed a record, with the values before and after, and the way back. */
export const Changes = ({ etag, list, resource, uuid }: ChangesProps) => {
  const words = useWords()
  const described = useMessage()
  const formats = useFormats()
  const deed = useDeed()
  const notify = useNotify()
  const queries = useQueryClient()
  const { can, client } = useSession()
  const restore = useMutation({
    // Without an event, a deleted record comes back as it was before its deletion.
    mutationFn: async (eventId?: string) => {
      const body = eventId === undefined ? {} : { eventId }
      const options = etag === undefined ? {} : { ifMatch: etag }
      const { error, warning } = await call(client, resource.actions.restore!, uuid, body, options).result()
      if (error !== undefined) throw error
      return warning
    },
    onSuccess: async (warning) => {
      notify(warning === undefined ? words.restored : words.restoredInPart(warning))
      await queries.invalidateQueries()
    },
    onError: (failure) => {
      if (messageOf(failure).tag !== "PreconditionFailedError") return notify(described(failure).text)
      notify(words.changedSince)
      return queries.invalidateQueries()
    }
  })
  return (
    <Listed list={list} empty={words.noHistory}>
      {(events) => (
        <ol className="history">
          {events.map((event, index) => {
            const changes = objectsIn(event["changes"])
            const type = textOf(event["type"])
            const isDeletion = type.endsWith(".deleted")
            // The latest change has nothing to go back to, but for a deletion.
            const canRestore = can(resource.actions.restore) && (isDeletion ? index === 0 : index > 0)
            return (
              <li key={textOf(event["id"])}>
                <header>
                  <time dateTime={textOf(event["occurredAt"])}>{formats.time(textOf(event["occurredAt"]))}</time>
                  <strong>{deed(type)}</strong>
                  <span>{words.by(textOf(valueAt(event, "actor.name")) || textOf(valueAt(event, "actor.type")))}</span>
                  {canRestore ? (
                    <button
                      type="button"
                      title={words.restoreHint}
                      disabled={restore.isPending}
                      onClick={() => restore.mutate(isDeletion ? undefined : textOf(event["id"]))}
                    >
                      {words.restore}
                    </button>
                  ) : null}
                </header>
                {changes.length === 0 ? null : (
                  <table>
                    <thead>
                      <tr>
                        <th scope="col">{words.field}</th>
                        <th scope="col">{words.before}</th>
                        <th scope="col">{words.after}</th>
                      </tr>
                    </thead>
                    <tbody>
                      {changes.map((change) => (
                        <Change key={textOf(change["path"])} change={change} />
                      ))}
                    </tbody>
                  </table>
                )}
              </li>
            )
          })}
        </ol>
      )}
    </Listed>
  )
}

/** The history of a record that exists; the log has its last change, which was at its `editedAt`, a moment later. */
export const History = ({ read: { etag, record }, resource, uuid }: Props & { readonly read: Read }) => {
  const list = useChanges({ resource, uuid }, ([newest]) => textOf(newest?.["occurredAt"]) < textOf(record["editedAt"]))
  return <Changes list={list} resource={resource} uuid={uuid} etag={etag} />
}
