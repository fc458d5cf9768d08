import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import definition from "virtual:definition"
import { messageOf } from "../shell/Failure.tsx"
import { Listed } from "../shell/Listed.tsx"
import { useNotify } from "../shell/Notices.tsx"
import { call, labelOf, type Page, uuidOf } from "../data/Calls.ts"
import { rowsOf, usePages } from "../data/Lists.ts"
import type { Relation, Resource } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { useFormats, useWords } from "../words/Words.tsx"
import { Picker } from "./Picker.tsx"

/** All uuids of a relation, and the tag by which a later write finds out whether they are still the same. */
const useReplacement = (relation: Relation, uuid: string) => {
  const { client } = useSession()
  const queries = useQueryClient()
  const notify = useNotify()
  return useMutation({
    mutationFn: async (change: (members: ReadonlyArray<string>) => ReadonlyArray<string>) => {
      const members: Array<string> = []
      let etag: string | undefined
      for (let after: string | undefined = ""; after !== undefined;) {
        const outcome = await call<Page>(client, relation.list, uuid, { limit: 500, after }).result()
        if (outcome.error !== undefined) throw outcome.error
        etag ??= outcome.etag
        members.push(...outcome.data.data.map(uuidOf))
        after = outcome.data.pagination.next
      }
      await call(client, relation.replace!, uuid, { [relation.resource]: change(members) }, { ifMatch: etag })
    },
    onSuccess: () => queries.invalidateQueries(),
    onError: (error) => notify(messageOf(error).text)
  })
}

/** The records that belong to a record, and how to add and remove some. */
export const Related = ({ relation, uuid }: { readonly relation: Relation; readonly uuid: string }) => {
  const words = useWords()
  const formats = useFormats()
  const { can } = useSession()
  const [isAdding, setAdding] = useState(false)
  const resource: Resource = definition.resources.find(({ name }) => name === relation.resource)!
  const list = usePages({ action: relation.list, uuids: [uuid] })
  const replace = useReplacement(relation, uuid)
  const rows = rowsOf(list.data?.pages ?? [])
  const total = list.data?.pages[0]?.pagination.total ?? rows.length
  return (
    <>
      <div className="heading">
        <p className="count">{words.shownOfTotal(formats.number(rows.length), formats.number(total))}</p>
        {can(relation.replace) ? (
          <button type="button" onClick={() => setAdding(true)}>
            {words.add}
          </button>
        ) : null}
      </div>
      {isAdding ? (
        <Picker
          resource={resource}
          close={() => setAdding(false)}
          pick={(chosen) => {
            setAdding(false)
            replace.mutate((members) => [...new Set([...members, ...chosen])])
          }}
        />
      ) : null}
      <Listed list={list} empty={words.noMembers}>
        {() => (
          <ul className="members-list">
            {rows.map((row) => (
              <li key={uuidOf(row)}>
                <Link href={`/${resource.name}/${uuidOf(row)}`}>{labelOf(row, resource.label)}</Link>
                {can(relation.replace) ? (
                  <button
                    type="button"
                    className="quiet"
                    aria-label={`${words.removeItem} ${labelOf(row, resource.label)}`}
                    disabled={replace.isPending}
                    onClick={() => replace.mutate((members) => members.filter((member) => member !== uuidOf(row)))}
                  >
                    ✕
                  </button>
                ) : null}
              </li>
            ))}
          </ul>
        )}
      </Listed>
    </>
  )
}
