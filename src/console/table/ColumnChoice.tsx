import { useAddress } from "../data/Addresses.ts"
import type { Resource } from "../definition/Definition.ts"
import { useNames, useWords } from "../words/Words.tsx"

/** The columns of a table: those of the address, else those that the definition puts first. */
export const useColumns = (resource: Resource): ReadonlyArray<string> => {
  const chosen = useAddress().get("columns")?.split(",")
  const known = new Set([...resource.columns.map(({ path }) => path), ...resource.shown])
  return chosen?.filter((path) => known.has(path)) ?? resource.shown
}

export const ColumnChoice = ({ resource }: { readonly resource: Resource }) => {
  const words = useWords()
  const names = useNames()
  const address = useAddress()
  const columns = useColumns(resource)
  const all = [...new Set([...resource.shown, ...resource.columns.map(({ path }) => path)])]
  const toggle = (path: string) => {
    const next = columns.includes(path) ? columns.filter((column) => column !== path) : [...columns, path]
    address.set({ columns: next.join(",") })
  }
  return (
    <details className="popup">
      <summary>{words.columns}</summary>
      <fieldset>
        <legend>{words.columns}</legend>
        {all.map((path) => (
          <label key={path} className="check">
            <input type="checkbox" checked={columns.includes(path)} onChange={() => toggle(path)} />
            {names.path(path)}
          </label>
        ))}
      </fieldset>
    </details>
  )
}
