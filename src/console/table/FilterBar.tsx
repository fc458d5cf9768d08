import { type FormEvent, useState } from "react"
import { useAddress } from "../data/Addresses.ts"
import * as Days from "../data/Days.ts"
import * as Filters from "../data/Filters.ts"
import type { Column, Resource } from "../definition/Definition.ts"
import { CrossButton } from "../shell/CrossButton.tsx"
import { useFormats, useNames, useWords } from "../words/Words.tsx"

const inputTypes: Readonly<Partial<Record<Column["kind"], string>>> = { number: "number", date: "date" }

/** Conditions of a filter are combined with `and`, so no filter holds for the times of one of several days. */
const operatorsOf = ({ kind, operators }: Column) =>
  kind === "date" ? operators.filter((operator) => operator !== "in") : operators

/** The names of operators; times and days are before or after others. */
const useConditions = () => {
  const { conditions, timeConditions } = useWords()
  return (kind: Column["kind"] | undefined): typeof conditions =>
    kind === "date" || kind === "day" ? { ...conditions, ...timeConditions } : conditions
}

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
  readonly add: (conditions: ReadonlyArray<Filters.Condition>) => void
}) => {
  const words = useWords()
  const names = useNames()
  const conditionsOf = useConditions()
  const [path, setPath] = useState(resource.columns[0]?.path ?? "")
  const [operator, setOperator] = useState<string>("")
  const [value, setValue] = useState("")
  const column = resource.columns.find((candidate) => candidate.path === path)
  if (column === undefined) return null
  const operators = operatorsOf(column)
  const conditions = conditionsOf(column.kind)
  const [first = "equals"] = column.kind === "string" ? ["contains"] : operators
  const chosen = operators.some((one) => one === operator) ? operator : first
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const values = chosen === "in" ? value.split("|").map((one) => one.trim()) : [value]
    const isDay = column.kind === "date" && chosen !== "exists"
    add(isDay ? Days.conditionsOn(path, chosen, value) : [{ field: path, operator: chosen, values }])
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
          {operators.map((one) => (
            <option key={one} value={one}>
              {conditions[one]}
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
  const formats = useFormats()
  const conditionsOf = useConditions()
  const conditions = Filters.read(address.get("filter"))
  const set = (next: ReadonlyArray<Filters.Condition>) => address.set({ filter: Filters.print(next) })
  const kindOf = (field: string) => resource.columns.find(({ path }) => path === field)?.kind
  const isTime = (field: string) => kindOf(field) === "date"
  // A day of UTC is not one of the browser.
  const timeOf = (value: string) => (/^\d{4}-\d\d-\d\d$/.test(value) ? `${value} UTC` : formats.time(value))
  const textOf = ({ day, field, operator, values }: Days.Shown) => {
    const known: Readonly<Record<string, string>> = conditionsOf(kindOf(field))
    const valueOf = () => {
      if (operator === "exists") return values[0] === "false" ? words.no : words.yes
      if (day !== undefined) return formats.day(day)
      return (isTime(field) ? values.map(timeOf) : values).join(", ")
    }
    return `${names.path(field)} ${known[operator] ?? operator} ${valueOf()}`
  }
  return (
    <div className="filters">
      {Days.shownOf(conditions, isTime).map((shown) => (
        <span className="chip" key={`${shown.field} ${shown.operator} ${shown.values.join("|")}`}>
          {textOf(shown)}
          <CrossButton
            label={words.removeFilter(textOf(shown))}
            onClick={() => set(conditions.filter((condition) => !shown.parts.includes(condition)))}
          />
        </span>
      ))}
      <details className="popup">
        <summary>{words.addFilter}</summary>
        <NewCondition resource={resource} add={(added) => set([...conditions, ...added])} />
      </details>
    </div>
  )
}
