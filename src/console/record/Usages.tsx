import { useInfiniteQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import definition from "virtual:definition"
import { Empty, Failure } from "../shell/Failure.tsx"
import { call, type Page, textOf } from "../data/Calls.ts"
import type { Action } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { useNames, useWords } from "../words/Words.tsx"

const pageSize = 50

/** The records that refer to a record. */
export const Usages = ({ action, uuid }: { readonly action: Action; readonly uuid: string }) => {
  const words = useWords()
  const names = useNames()
  const { client } = useSession()
  const list = useInfiniteQuery({
    queryKey: ["usages", action.name, uuid],
    initialPageParam: 1,
    queryFn: ({ pageParam, signal }) =>
      call<Page>(client, action, uuid, { limit: pageSize, page: pageParam }, { signal }),
    getNextPageParam: ({ pagination }, pages) =>
      pages.length * pageSize < (pagination.total ?? 0) ? pages.length + 1 : undefined
  })
  if (list.error !== null) return <Failure error={list.error} retry={() => void list.refetch()} />
  if (list.isPending) return <p className="hint">{words.loading}</p>
  const rows = list.data.pages.flatMap(({ data }) => data)
  if (rows.length === 0) return <Empty title={words.noUsages} />
  return (
    <>
      <ul className="plain">
        {rows.map((row) => {
          const resource = definition.resources.find(({ recordType }) => recordType === row["type"])
          const label = textOf(row["label"]) || textOf(row["uuid"])
          return (
            <li key={`${textOf(row["type"])} ${textOf(row["uuid"])} ${textOf(row["path"])}`}>
              {resource === undefined ? label : <Link href={`/${resource.name}/${textOf(row["uuid"])}`}>{label}</Link>}{" "}
              <span className="hint">
                {resource === undefined ? textOf(row["type"]) : names.one(resource.name)},{" "}
                {names.path(textOf(row["path"]))}
              </span>
            </li>
          )
        })}
      </ul>
      {list.hasNextPage ? (
        <button type="button" onClick={() => void list.fetchNextPage()}>
          {words.more}
        </button>
      ) : null}
    </>
  )
}
