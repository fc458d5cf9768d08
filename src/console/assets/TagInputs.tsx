import { useQuery } from "@tanstack/react-query"
import { localOf, timeOf } from "../data/Days.ts"
import { type Json, objectsIn } from "../../domain/schema/Json.ts"
import { call, textOf, valueAt } from "../data/Calls.ts"
import { useSession } from "../session/Session.tsx"
import { useSpoken } from "../words/Words.tsx"

/** What was typed; of a choice of several, all of them. */
type Value = string | ReadonlyArray<string>

const inputTypes: Readonly<Record<string, string>> = {
  integer: "number",
  decimal: "number",
  date: "date",
  dateTime: "datetime-local",
  url: "url"
}

/** The options that the service accepts: those that are offered, and those that the asset has. */
const optionsOf = (definition: Json, held: Value) =>
  objectsIn(definition["options"])
    .map((option) => ({
      key: textOf(option["key"]),
      label: textOf(valueAt(option, "translations.0.label")) || textOf(option["key"]),
      isOffered: option["active"] !== false
    }))
    .filter(({ isOffered, key }) => isOffered || [held].flat().includes(key))

/** A value as its input has it. */
export const shownOf = (value: unknown): Value => (Array.isArray(value) ? value.map(textOf) : textOf(value))

/** A value as the service takes it, by the type of the meta tag; nothing removes it. */
const sentOf = (type: string, value: Value): unknown => {
  if (value.length === 0) return null
  if (type === "integer" || type === "decimal") return Number(value)
  return type === "boolean" ? value === "true" : value
}

interface InputProps {
  readonly definition: Json
  readonly value: Value
  readonly held: Value
  readonly isFixed: boolean
  readonly onChange: (value: Value) => void
}

const Input = ({ definition, held, isFixed, onChange, value }: InputProps) => {
  const { words } = useSpoken()
  const type = textOf(definition["type"])
  const id = `tag-${textOf(definition["key"])}`
  if (type === "multiSelect") {
    return (
      <select
        id={id}
        multiple
        disabled={isFixed}
        value={Array.isArray(value) ? value.map(textOf) : []}
        onChange={(event) => onChange([...event.target.selectedOptions].map((option) => option.value))}
      >
        {optionsOf(definition, held).map(({ key, label }) => (
          <option key={key} value={key}>
            {label}
          </option>
        ))}
      </select>
    )
  }
  if (type === "select" || type === "boolean") {
    const options =
      type === "select"
        ? optionsOf(definition, held)
        : [
            { key: "true", label: words.yes },
            { key: "false", label: words.no }
          ]
    return (
      <select id={id} disabled={isFixed} value={String(value)} onChange={(event) => onChange(event.target.value)}>
        <option value="">{words.choose}</option>
        {options.map(({ key, label }) => (
          <option key={key} value={key}>
            {label}
          </option>
        ))}
      </select>
    )
  }
  if (type === "longText") {
    return (
      <textarea
        id={id}
        rows={4}
        disabled={isFixed}
        value={String(value)}
        onChange={(event) => onChange(event.target.value)}
      />
    )
  }
  const isTime = type === "dateTime"
  return (
    <input
      id={id}
      type={inputTypes[type] ?? "text"}
      step="any"
      disabled={isFixed}
      value={isTime ? localOf(String(value)) : String(value)}
      onChange={(event) => onChange(isTime ? timeOf(event.target.value) : event.target.value)}
    />
  )
}

/** The meta tags that apply to assets of some categories. */
export const useTagDefinitions = (categories: ReadonlyArray<string>) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["tag-definitions", categories],
    queryFn: async ({ signal }) => {
      const definitions = await call<ReadonlyArray<Json>>(
        client,
        { group: "assets", name: "listMetaTags" },
        categories.length === 0 ? {} : { category: categories },
        { signal }
      )
      // Without a category the service lists all of them.
      const ofAll = ({ categories: needed }: Json) => Array.isArray(needed) && needed.length === 0
      return categories.length === 0 ? definitions.filter(ofAll) : definitions
    }
  })
}

/** The values that were typed, by the keys of their meta tags. */
export type Values = Readonly<Record<string, Value>>

/** What differs between values, as the service takes it. */
export const changesOf = (definitions: ReadonlyArray<Json>, before: Values, after: Values) =>
  definitions.flatMap((definition) => {
    const key = textOf(definition["key"])
    const value = after[key] ?? ""
    if (JSON.stringify(value) === JSON.stringify(before[key] ?? "")) return []
    return [{ key, value: sentOf(textOf(definition["type"]), value) }]
  })

interface Props {
  readonly definitions: ReadonlyArray<Json>
  /** The values that an asset has. A new one has none, and takes also those that cannot be changed later. */
  readonly held?: Values
  readonly values: Values
  readonly set: (key: string, value: Value) => void
}

/** The input of each meta tag, by its type. */
export const TagInputs = ({ definitions, held, set, values }: Props) => (
  <div className="members">
    {definitions.map((definition) => {
      const key = textOf(definition["key"])
      return (
        <div className="field" key={key}>
          <label htmlFor={`tag-${key}`}>{textOf(valueAt(definition, "translations.0.name")) || key}</label>
          <Input
            definition={definition}
            value={values[key] ?? ""}
            held={held?.[key] ?? ""}
            isFixed={held !== undefined && definition["editable"] === false}
            onChange={(value) => set(key, value)}
          />
        </div>
      )
    })}
  </div>
)
