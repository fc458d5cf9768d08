import { Link } from "wouter"
import { textOf } from "../data/Calls.ts"
import { usePages } from "../data/Lists.ts"
import type { Action } from "../definition/Definition.ts"
import { Listed } from "../shell/Listed.tsx"
import { useFormats, useWords } from "../words/Words.tsx"
import { ProblemList } from "./ProblemList.tsx"

/** The branches that may use a product, or the products for a branch: what is ready, and what the others lack. */
const Readiness = ({ action, uuid }: { readonly action: Action; readonly uuid: string }) => {
  const words = useWords()
  const formats = useFormats()
  // The rows of a product are branches, those of a branch are products.
  const other = action.name.endsWith("Product") ? "locations" : "products"
  const list = usePages({ action, uuids: [uuid] })
  return (
    <Listed list={list} empty={words.noMembers}>
      {(rows, first) => (
        <>
          <p className="count">
            {words.shownOfTotal(formats.number(rows.length), formats.number(first.pagination.total ?? rows.length))}
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
                    <ProblemList problems={row["problems"]} />
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

export default Readiness
