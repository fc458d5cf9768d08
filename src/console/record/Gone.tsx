import type { Json } from "../../domain/schema/Json.ts"
import { textOf } from "../data/Calls.ts"
import { rowsOf } from "../data/Lists.ts"
import type { Resource } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { Failure } from "../shell/Failure.tsx"
import { Heading } from "../shell/Heading.tsx"
import { useNames, useWords } from "../words/Words.tsx"
import { Changes, useChanges } from "./History.tsx"

interface Props {
  readonly resource: Resource
  readonly uuid: string
  /** Why the record cannot be read. */
  readonly error: unknown
  readonly retry: () => void
}

/** The last change that decides whether the record exists; an erasure of its history may follow its deletion. */
const lastOf = (changes: ReadonlyArray<Json>): string =>
  changes
    .map(({ type }) => textOf(type))
    .map((type) => type.slice(type.lastIndexOf(".") + 1))
    .find((action) => ["created", "restored", "deleted", "erased"].includes(action)) ?? ""

/** What stands for a record that does not exist: its history if it was deleted, else the error. */
export const Gone = ({ error, resource, retry, uuid }: Props) => {
  const words = useWords()
  const names = useNames()
  const { can } = useSession()
  // The log has the deletion a moment after the record is gone.
  const list = useChanges({ resource, uuid }, (changes) => !["deleted", "erased"].includes(lastOf(changes)))
  const retryAll = () => {
    retry()
    void list.refetch()
  }
  if (list.data === undefined) {
    return list.error === null ? <p className="hint">{words.loading}</p> : <Failure error={error} retry={retryAll} />
  }
  const last = lastOf(rowsOf(list.data.pages))
  const isRestorable = last === "deleted" && can(resource.actions.restore)
  return (
    <>
      <Heading text={names.one(resource.name)} />
      {["deleted", "erased"].includes(last) ? (
        <p>
          {words.isDeleted} {isRestorable ? words.isRestorable : null}
        </p>
      ) : null}
      <Changes list={list} resource={resource} uuid={uuid} />
    </>
  )
}
