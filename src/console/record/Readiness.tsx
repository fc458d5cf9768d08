import { useInfiniteQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import { call, isRecord, type Json, type Page, textOf } from "../data/Calls.ts"
import type { Action } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { Empty, Failure } from "../shell/Failure.tsx"
import { useFormats, useNames, useWords } from "../words/Words.tsx"

const pageSize = 100

const problemsOf = (row: Json) => (Array.isArray(row["problems"]) ? row["problems"].filter(isRecord) : [])

/** The branches that may use a product, or the products for a branch: what is ready, and what the others lack. */
const Readiness = ({ action, uuid }: { readonly action: Action; readonly uuid: string }) => {
  const words = useWords()
  const names = useNames()
  const formats = useFormats()
  const { client } = useSession()
  // The rows of a product are branches, those of a branch are products.
  const other = action.name.endsWith("Product") ? "locations" : "products"
  const list = useInfiniteQuery({
    queryKey: ["readiness", action.name, uuid],
    initialPageParam: 1,
    queryFn: ({ pageParam, signal }) =>
      call<Page>(client, action, uuid, { limit: pageSize, page: pageParam }, { signal }),
    getNextPageParam: ({ pagination }, pages) =>
      pages.length * pageSize < (pagination.total ?? 0) ? pages.length + 1 : undefined
  })
  if (list.error !== null) return <Failure error={list.error} retry={() => void list.refetch()} />
  if (list.isPending) return <p className="hint">{words.loading}</p>
  const rows = list.data.pages.flatMap(({ data }) => data)
  if (rows.length === 0) return <Empty title={words.noMembers} />
  return (
    <>
      <p className="count">
        {words.shownOfTotal(
          formats.number(rows.length),
          formats.number(list.data.pages[0]?.pagination.total ?? rows.length)
        )}
      </p>
      <table>
        <tbody>
          {rows.map((row) => (
            <tr key={textOf(row["uuid"])}>
              <th scope="row">
                <Link href={`/${other}/${textOf(row["uuid"])}`}>{textOf(row["name"])}</Link>
              </th>
              <td className={row["ready"] === true ? "done" : "problem"}>
                {row["ready"] === true ? words.ready : words.notReady}
              </td>
              <td>
                <ul className="plain">
                  {problemsOf(row).map((problem) => (
                    <li key={`${textOf(problem["path"])} ${textOf(problem["variable"])}`}>
                      <strong>{names.path(textOf(problem["path"]))}</strong> {textOf(problem["message"])}
                    </li>
                  ))}
                </ul>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {list.hasNextPage ? (
        <button type="button" onClick={() => void list.fetchNextPage()}>
          {words.more}
        </button>
      ) : null}
    </>
  )
}

export default Readiness
