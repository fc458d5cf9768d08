import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import definition from "virtual:definition"
import { maxLimit } from "../../domain/query/PageLimit.ts"
import type { WaypostClient } from "../../client/promise/PromiseClient.ts"
import { useMessage } from "../shell/Failure.tsx"
import { CrossButton } from "../shell/CrossButton.tsx"
import { Listed } from "../shell/Listed.tsx"
import { useNotify } from "../shell/Notices.tsx"
import { call, labelOf, type Page, uuidOf } from "../data/Calls.ts"
import { rowsOf, usePages } from "../data/Lists.ts"
import type { Relation } from "../definition/Definition.ts"
import { resourceNamed } from "../definition/Resources.ts"
import { useSession } from "../session/Session.tsx"
import { useFormats, useWords } from "../words/Words.tsx"
import { Picker } from "./Picker.tsx"

/** The records to add to a set, and to remove from it. */
interface Change {
  readonly added: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
}

/**
 * Replaces the records of a relation; the tag that was read with them finds out whether they are still the same. After a change by
 * another client they are read again once.
 */
const replaceSet = async (
  client: WaypostClient,
  relation: Relation,
  uuid: string,
  change: Change,
  isAgain = false
): Promise<void> => {
  const members: Array<string> = []
  let etag: string | undefined
  for (let after: string | undefined = ""; after !== undefined;) {
    const outcome = await call<Page>(client, relation.list, uuid, { limit: maxLimit, after }).result()
    if (outcome.error !== undefined) throw outcome.error
    etag ??= outcome.etag
    members.push(...outcome.data.data.map(uuidOf))
    after = outcome.data.pagination.next
  }
  const next = new Set([...members, ...change.added])
  for (const one of change.removed) next.delete(one)
  const body = { [relation.resource]: [...next] }
  const { error } = await call(client, relation.replace!, uuid, body, { ifMatch: etag }).result()
  if (error?._tag === "PreconditionFailedError" && !isAgain) return replaceSet(client, relation, uuid, change, true)
  if (error !== undefined) throw error
}

/** Changes a relation. A set with more records than a replacement may have is changed from the other side, one record at a time. */
const useChange = ({ owner, relation, total, uuid }: Props & { readonly total: number }) => {
  const { can, client } = useSession()
  const queries = useQueryClient()
  const messageOf = useMessage()
  const notify = useNotify()
  return useMutation({
    mutationFn: async (change: Change) => {
      const inverse = resourceNamed(relation.resource).relations.find(({ resource }) => resource === owner)
      if (total + change.added.length <= definition.maxMembers || !can(inverse?.replace)) {
        return replaceSet(client, relation, uuid, change)
      }
      for (const one of change.added) await replaceSet(client, inverse, one, { added: [uuid], removed: [] })
      for (const one of change.removed) await replaceSet(client, inverse, one, { added: [], removed: [uuid] })
    },
    // Whatever the page shows by then.
    onError: (error) => notify(messageOf(error).text),
    onSettled: () => void queries.invalidateQueries()
  })
}

interface Props {
  /** The name of the resource of the record. */
  readonly owner: string
  readonly relation: Relation
  readonly uuid: string
}

/** The records that belong to a record, and how to add and remove some. */
export const Related = ({ owner, relation, uuid }: Props) => {
  const words = useWords()
  const formats = useFormats()
  const { can } = useSession()
  const [isAdding, setAdding] = useState(false)
  const resource = resourceNamed(relation.resource)
  const list = usePages({ action: relation.list, uuids: [uuid] })
  const rows = rowsOf(list.data?.pages ?? [])
  const total = list.data?.pages[0]?.pagination.total ?? rows.length
  const change = useChange({ owner, relation, total, uuid })
  const begin = () => {
    change.reset()
    setAdding(true)
  }
  const remove = (one: string) => change.mutate({ added: [], removed: [one] })
  return (
    <>
      <div className="heading">
        <p className="count">{words.shownOfTotal(formats.number(rows.length), formats.number(total))}</p>
        {can(relation.replace) ? (
          <button type="button" disabled={change.isPending} onClick={begin}>
            {words.add}
          </button>
        ) : null}
      </div>
      {isAdding ? (
        <Picker
          resource={resource}
          problem={change.error}
          isBusy={change.isPending}
          close={() => setAdding(false)}
          pick={(chosen) => change.mutate({ added: chosen, removed: [] }, { onSuccess: () => setAdding(false) })}
        />
      ) : null}
      <Listed list={list} empty={words.noMembers}>
        {() => (
          <ul className="members-list">
            {rows.map((row) => (
              <li key={uuidOf(row)}>
                <Link href={`/${resource.name}/${uuidOf(row)}`}>{labelOf(row, resource.label)}</Link>
                {can(relation.replace) ? (
                  <CrossButton
                    label={`${words.removeItem} ${labelOf(row, resource.label)}`}
                    disabled={change.isPending}
                    onClick={() => remove(uuidOf(row))}
                  />
                ) : null}
              </li>
            ))}
          </ul>
        )}
      </Listed>
    </>
  )
}
