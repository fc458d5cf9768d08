import { type FormEvent, useState } from "react"
import { useAddress } from "../data/Addresses.ts"
import * as Filters from "../data/Filters.ts"
import type { Column, Resource } from "../definition/Definition.ts"
import { useNames, useWords } from "../words/Words.tsx"

const inputTypes: Readonly<Partial<Record<Column["kind"], string>>> = { number: "number", date: "date" }

interface ValueProps {
  readonly column: Column
  readonly operator: string
  readonly value: string
  readonly onChange: (value: string) => void
}

/** The input for the value of a condition, by the kind of its field. */
const ValueInput = ({ column, onChange, operator, value }: ValueProps) => {
  const words = useWords()
  const options: ReadonlyArray<readonly [string, string]> =
    operator === "exists" || column.kind === "boolean"
      ? [
          ["true", words.yes],
          ["false", words.no]
        ]
      : column.values.map((word) => [word, word])
  if (options.length > 0 && operator !== "in") {
    return (
      <select aria-label={words.value} required value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{words.choose}</option>
        {options.map(([word, text]) => (
          <option key={word} value={word}>
            {text}
          </option>
        ))}
      </select>
    )
  }
  return (
    <input
      aria-label={words.value}
      type={operator === "in" ? "text" : (inputTypes[column.kind] ?? "text")}
      step="any"
      required
      placeholder={operator === "in" ? "a | b | c" : undefined}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

const NewCondition = ({
  add,
  resource
}: {
  readonly resource: Resource
  readonly add: (condition: Filters.Condition) => void
}) => {
  const words = useWords()
  const names = useNames()
  const [path, setPath] = useState(resource.columns[0]?.path ?? "")
  const [operator, setOperator] = useState<string>("")
  const [value, setValue] = useState("")
  const column = resource.columns.find((candidate) => candidate.path === path)
  if (column === undefined) return null
  const [first = "equals"] = column.kind === "string" ? ["contains"] : column.operators
  const chosen = column.operators.some((one) => one === operator) ? operator : first
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const values = chosen === "in" ? value.split("|").map((one) => one.trim()) : [value]
    add({ field: path, operator: chosen, values })
    setValue("")
  }
  return (
    <form onSubmit={submit}>
      <label>
        {words.field}
        <select value={path} onChange={(event) => setPath(event.target.value)}>
          {resource.columns.map((one) => (
            <option key={one.path} value={one.path}>
              {names.path(one.path)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {words.operator}
        <select value={chosen} onChange={(event) => setOperator(event.target.value)}>
          {column.operators.map((one) => (
            <option key={one} value={one}>
              {words.conditions[one]}
            </option>
          ))}
        </select>
      </label>
      <ValueInput column={column} operator={chosen} value={value} onChange={setValue} />
      <button type="submit" className="primary">
        {words.apply}
      </button>
    </form>
  )
}

/** The filters of a view, built by clicking. The address has them in the grammar of the API. */
export const FilterBar = ({ resource }: { readonly resource: Resource }) => {
  const words = useWords()
  const names = useNames()
  const address = useAddress()
  const conditions = Filters.read(address.get("filter"))
  const set = (next: ReadonlyArray<Filters.Condition>) => address.set({ filter: Filters.print(next) })
  const textOf = ({ field, operator, values }: Filters.Condition) => {
    const known: Readonly<Record<string, string>> = words.conditions
    const value = operator === "exists" ? (values[0] === "false" ? words.no : words.yes) : values.join(", ")
    return `${names.path(field)} ${known[operator] ?? operator} ${value}`
  }
  return (
    <div className="filters">
      {conditions.map((condition, index) => (
        <span className="chip" key={`${condition.field} ${condition.operator} ${condition.values.join("|")}`}>
          {textOf(condition)}
          <button
            type="button"
            className="quiet"
            aria-label={words.removeFilter(textOf(condition))}
            onClick={() => set(conditions.filter((_, other) => other !== index))}
          >
            ✕
          </button>
        </span>
      ))}
      <details className="popup">
        <summary>{words.addFilter}</summary>
        <NewCondition resource={resource} add={(condition) => set([...conditions, condition])} />
      </details>
    </div>
  )
}
