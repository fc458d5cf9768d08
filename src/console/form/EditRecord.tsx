import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation } from "wouter"
import { useNotify } from "../shell/Notices.tsx"
import { call, type Json } from "../data/Calls.ts"
import type { Resource } from "../definition/Definition.ts"
import type { Read } from "../record/RecordPage.tsx"
import { useSession } from "../session/Session.tsx"
import { useWords } from "../words/Words.tsx"
import RecordForm from "./RecordForm.tsx"

interface Props {
  readonly resource: Resource
  readonly uuid: string
  readonly read: Read
}

/** Edits a record as it was read; a write that would overwrite the change of another client asks first. */
const EditRecord = ({ read, resource, uuid }: Props) => {
  const words = useWords()
  const notify = useNotify()
  const queries = useQueryClient()
  const { client } = useSession()
  const [, go] = useLocation()
  // The record that the form began with, also if it is read again meanwhile.
  const [begun, setBegun] = useState(read)
  const [unsent, setUnsent] = useState<Json>({})
  const write = async (data: Json, ifMatch: string | undefined) => {
    setUnsent(data)
    await call(client, resource.actions.update!, uuid, data, { ifMatch })
    await queries.invalidateQueries()
    notify(words.saved)
    go(`/${resource.name}/${uuid}`)
  }
  const reload = async () => {
    await queries.refetchQueries({ queryKey: ["record", resource.name, uuid] })
    const latest = queries.getQueryData<Read>(["record", resource.name, uuid])
    if (latest !== undefined) setBegun(latest)
  }
  return (
    <RecordForm
      key={begun.etag}
      action={resource.actions.update!}
      initial={begun.record}
      send={(data) => write(data, begun.etag)}
      conflict={
        <p className="actions">
          <button type="button" onClick={() => void reload()}>
            {words.takeTheirs}
          </button>
          <button type="button" className="danger" onClick={() => void write(unsent, undefined)}>
            {words.overwrite}
          </button>
        </p>
      }
    />
  )
}

export default EditRecord
