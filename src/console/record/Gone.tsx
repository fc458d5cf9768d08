import { textOf } from "../data/Calls.ts"
import { rowsOf } from "../data/Lists.ts"
import type { Resource } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { Failure } from "../shell/Failure.tsx"
import { useNames, useWords } from "../words/Words.tsx"
import { Changes, useChanges } from "./History.tsx"

interface Props {
  readonly resource: Resource
  readonly uuid: string
  /** Why the record cannot be read. */
  readonly error: unknown
  readonly retry: () => void
}

/** What stands for a record that does not exist: its history if it was deleted, else the error. */
export const Gone = ({ error, resource, retry, uuid }: Props) => {
  const words = useWords()
  const names = useNames()
  const { can } = useSession()
  // The log has the deletion a moment after the record is gone.
  const list = useChanges({ resource, uuid }, (newest) => !/\.(?:deleted|erased)$/.test(textOf(newest?.["type"])))
  const retryAll = () => {
    retry()
    void list.refetch()
  }
  if (list.data === undefined) {
    return list.error === null ? <p className="hint">{words.loading}</p> : <Failure error={error} retry={retryAll} />
  }
  const isDeleted = textOf(rowsOf(list.data.pages)[0]?.["type"]).endsWith(".deleted")
  return (
    <>
      <h1>{names.one(resource.name)}</h1>
      {isDeleted ? (
        <p>
          {words.isDeleted} {can(resource.actions.restore) ? words.isRestorable : null}
        </p>
      ) : null}
      <Changes list={list} resource={resource} uuid={uuid} />
    </>
  )
}
