import { objectsIn } from "../../domain/schema/Json.ts"
import { textOf } from "../data/Calls.ts"
import { useNames } from "../words/Words.tsx"

/** What is wrong with a record: the member, and why. */
export const ProblemList = ({ problems }: { readonly problems: unknown }) => {
  const names = useNames()
  const all = objectsIn(problems)
  return (
    <ul className="plain">
      {all.map(({ code, message, path, variable }) => (
        <li key={`${textOf(path)} ${textOf(code)} ${textOf(variable)}`}>
          <strong>{names.path(textOf(path))}</strong> {textOf(message)}
        </li>
      ))}
    </ul>
  )
}
