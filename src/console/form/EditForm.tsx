import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { WaypostError } from "../../client/promise/WaypostError.ts"
import type { Json } from "../../domain/schema/Json.ts"
import { call } from "../data/Calls.ts"
import type { Action } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { discard } from "../shell/Leaving.ts"
import { useNotify } from "../shell/Notices.tsx"
import { useWords } from "../words/Words.tsx"
import RecordForm from "./RecordForm.tsx"

/** Something as it was read, with the tag by which a later write finds out whether it is still the same. */
export interface Read {
  readonly record: Json
  readonly etag: string | undefined
}

/** What a form begins with. The member `active` of a webhook is answered as its `state`. */
const initialOf = ({ group }: Action, record: Json): Json =>
  group === "webhooks" ? { ...record, active: record["state"] === "active" } : record

interface Props {
  readonly action: Action
  readonly uuid: string
  readonly read: Read
  /** The key of the query that read it. */
  readonly queryKey: ReadonlyArray<string>
  readonly saved?: () => void
}

/** Edits what was read; a write that would overwrite the change of another client asks first. */
const EditForm = ({ action, queryKey, read, saved, uuid }: Props) => {
  const words = useWords()
  const notify = useNotify()
  const queries = useQueryClient()
  const { client } = useSession()
  // What the form began with, also if it is read again.
  const [begun, setBegun] = useState(read)
  const begin = () => setBegun(queries.getQueryData<Read>(queryKey) ?? begun)
  const isFailed = () => queries.getQueryState(queryKey)?.status === "error"
  // What was written, but not read since: its tag is unknown, and nothing of it is unsaved.
  const [isUnread, setUnread] = useState(false)
  if (isUnread && !isFailed()) {
    setUnread(false)
    begin()
  }
  const write = async (data: Json, { isForced }: { readonly isForced: boolean }) => {
    if (begun.etag === undefined && !isForced) {
      // What does not exist has no tag; another client may have created it.
      await queries.refetchQueries({ queryKey }, { throwOnError: true })
      const { etag } = queries.getQueryData<Read>(queryKey) ?? begun
      if (etag !== undefined) {
        throw new WaypostError({ _tag: "PreconditionFailedError", message: words.changedByOther })
      }
    }
    await call(client, action, uuid, data, isForced || begun.etag === undefined ? {} : { ifMatch: begun.etag })
    // Only what is read has a tag.
    await queries.invalidateQueries()
    if (isFailed()) setUnread(true)
    else begin()
    notify(words.saved)
    saved?.()
  }
  const reload = async () => {
    // What was typed is given up, so nothing holds the form back.
    discard()
    await queries.refetchQueries({ queryKey })
    begin()
  }
  if (isUnread) return null
  return (
    <RecordForm
      key={begun.etag}
      action={action}
      initial={initialOf(action, begun.record)}
      send={write}
      conflict={(force) => (
        <p className="actions">
          <button type="button" onClick={() => void reload()}>
            {words.takeTheirs}
          </button>
          <button type="button" className="danger" onClick={force}>
            {words.overwrite}
          </button>
        </p>
      )}
    />
  )
}

export default EditForm
