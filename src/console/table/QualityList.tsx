import { Link } from "wouter"
import { ProblemList } from "../record/ProblemList.tsx"
import { Listed } from "../shell/Listed.tsx"
import { textOf } from "../data/Calls.ts"
import { usePages } from "../data/Lists.ts"
import { useFormats, useNames, useWords } from "../words/Words.tsx"

/** The locations whose data can be improved, the worst first. */
const QualityList = () => {
  const words = useWords()
  const names = useNames()
  const formats = useFormats()
  const list = usePages({ action: { group: "quality", name: "ofLocations" } })
  return (
    <Listed list={list} empty={words.allGood}>
      {(rows, first) => (
        <>
          <p className="count">{words.qualityCount(formats.number(first.pagination.total ?? rows.length))}</p>
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
                    <ProblemList problems={row["issues"]} />
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
