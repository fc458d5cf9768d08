import { useInfiniteQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import { Empty, Failure } from "../shell/Failure.tsx"
import { call, isRecord, type Json, type Page, textOf } from "../data/Calls.ts"
import { useSession } from "../session/Session.tsx"
import { useFormats, useNames, useWords } from "../words/Words.tsx"

const pageSize = 50

/** The locations whose data can be improved, the worst first. */
const QualityList = () => {
  const words = useWords()
  const names = useNames()
  const formats = useFormats()
  const { client } = useSession()
  const list = useInfiniteQuery({
    queryKey: ["quality"],
    initialPageParam: 1,
    queryFn: ({ pageParam, signal }) =>
      call<Page>(client, { group: "quality", name: "ofLocations" }, { limit: pageSize, page: pageParam }, { signal }),
    getNextPageParam: ({ pagination }, pages) =>
      pages.length * pageSize < (pagination.total ?? 0) ? pages.length + 1 : undefined
  })
  if (list.error !== null) return <Failure error={list.error} retry={() => void list.refetch()} />
  if (list.isPending) return <p className="hint">{words.loading}</p>
  const rows = list.data.pages.flatMap(({ data }) => data)
  if (rows.length === 0) return <Empty title={words.allGood} />
  const issuesOf = (row: Json) => (Array.isArray(row["issues"]) ? row["issues"].filter(isRecord) : [])
  return (
    <>
      <p className="count">{words.qualityCount(list.data.pages[0]?.pagination.total ?? rows.length)}</p>
      <table>
        <thead>
          <tr>
            <th scope="col">{names.member("name")}</th>
            <th scope="col">{words.score}</th>
            <th scope="col">{words.problemsOf}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={textOf(row["uuid"])}>
              <th scope="row">
                <Link href={`/locations/${textOf(row["uuid"])}`}>{textOf(row["name"])}</Link>
              </th>
              <td>{typeof row["score"] === "number" ? formats.number(row["score"]) : ""}</td>
              <td>
                <ul className="plain">
                  {issuesOf(row).map((issue) => (
                    <li key={`${textOf(issue["path"])} ${textOf(issue["code"])}`}>
                      <strong>{names.path(textOf(issue["path"]))}</strong> {textOf(issue["message"])}
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

export default QualityList
