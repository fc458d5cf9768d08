import { Link } from "wouter"
import { Listed } from "../shell/Listed.tsx"
import { isRecord, type Json, textOf } from "../data/Calls.ts"
import { usePages } from "../data/Lists.ts"
import { useFormats, useNames, useWords } from "../words/Words.tsx"

/** The locations whose data can be improved, the worst first. */
const QualityList = () => {
  const words = useWords()
  const names = useNames()
  const formats = useFormats()
  const list = usePages({ action: { group: "quality", name: "ofLocations" } })
  const issuesOf = (row: Json) => (Array.isArray(row["issues"]) ? row["issues"].filter(isRecord) : [])
  return (
    <Listed list={list} empty={words.allGood}>
      {(rows, first) => (
        <>
          <p className="count">{words.qualityCount(first.pagination.total ?? rows.length)}</p>
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
        </>
      )}
    </Listed>
  )
}

export default QualityList
