import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { type FormEvent, useState } from "react"
import { call, isRecord, type Json, textOf, valueAt } from "../data/Calls.ts"
import { useSession } from "../session/Session.tsx"
import { Empty, Failure, messageOf } from "../shell/Failure.tsx"
import { useNotify } from "../shell/Notices.tsx"
import { useSpoken } from "../words/Words.tsx"

type Value = string | ReadonlyArray<string>

const inputTypes: Readonly<Record<string, string>> = {
  integer: "number",
  decimal: "number",
  date: "date",
  url: "url"
}

const optionsOf = (definition: Json) =>
  (Array.isArray(definition["options"]) ? definition["options"].filter(isRecord) : []).map((option) => ({
    key: textOf(option["key"]),
    label: textOf(valueAt(option, "translations.0.label")) || textOf(option["key"])
  }))

/** A value as its input has it. */
const shownOf = (value: unknown): Value => (Array.isArray(value) ? value.map(textOf) : textOf(value))

/** A value as the service takes it, by the type of the meta tag; nothing removes it. */
const sentOf = (type: string, value: Value): unknown => {
  if (value.length === 0) return null
  if (type === "integer" || type === "decimal") return Number(value)
  return type === "boolean" ? value === "true" : value
}

interface InputProps {
  readonly definition: Json
  readonly value: Value
  readonly onChange: (value: Value) => void
}

const Input = ({ definition, onChange, value }: InputProps) => {
  const { words } = useSpoken()
  const type = textOf(definition["type"])
  const id = `tag-${textOf(definition["key"])}`
  if (type === "multiSelect") {
    return (
      <select
        id={id}
        multiple
        value={Array.isArray(value) ? value.map(textOf) : []}
        onChange={(event) => onChange([...event.target.selectedOptions].map((option) => option.value))}
      >
        {optionsOf(definition).map(({ key, label }) => (
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
        ? optionsOf(definition)
        : [
            { key: "true", label: words.yes },
            { key: "false", label: words.no }
          ]
    return (
      <select id={id} value={String(value)} onChange={(event) => onChange(event.target.value)}>
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
    return <textarea id={id} rows={4} value={String(value)} onChange={(event) => onChange(event.target.value)} />
  }
  return (
    <input
      id={id}
      type={inputTypes[type] ?? "text"}
      step="any"
      value={String(value)}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

interface FormProps {
  readonly uuid: string
  readonly definitions: ReadonlyArray<Json>
  readonly tags: ReadonlyArray<Json>
}

const TagForm = ({ definitions, tags, uuid }: FormProps) => {
  const { words } = useSpoken()
  const notify = useNotify()
  const queries = useQueryClient()
  const { client } = useSession()
  const begun = Object.fromEntries(tags.map((tag) => [textOf(tag["key"]), shownOf(tag["value"])]))
  const [values, setValues] = useState<Readonly<Record<string, Value>>>(begun)
  const save = useMutation({
    mutationFn: (metaTags: ReadonlyArray<Json>) =>
      call(client, { group: "assets", name: "updateMetaTags" }, uuid, { metaTags }),
    onSuccess: async () => {
      await queries.invalidateQueries()
      notify(words.saved)
    }
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const changed = definitions.flatMap((definition) => {
      const key = textOf(definition["key"])
      const value = values[key] ?? ""
      const isSame = JSON.stringify(value) === JSON.stringify(begun[key] ?? "")
      return isSame ? [] : [{ key, value: sentOf(textOf(definition["type"]), value) }]
    })
    save.mutate(changed)
  }
  return (
    <form className="record-form" onSubmit={submit}>
      <div className="members">
        {definitions.map((definition) => {
          const key = textOf(definition["key"])
          return (
            <div className="field" key={key}>
              <label htmlFor={`tag-${key}`}>{textOf(valueAt(definition, "translations.0.name")) || key}</label>
              <Input
                definition={definition}
                value={values[key] ?? ""}
                onChange={(value) => setValues((all) => ({ ...all, [key]: value }))}
              />
            </div>
          )
        })}
      </div>
      {save.error === null ? null : (
        <p className="problem" role="alert">
          {messageOf(save.error).text}
        </p>
      )}
      <p className="actions">
        <button type="submit" className="primary" disabled={save.isPending}>
          {words.save}
        </button>
      </p>
    </form>
  )
}

/** The meta tags of an asset, each with the input of its type. */
const MetaTags = ({ uuid }: { readonly uuid: string }) => {
  const { language, words } = useSpoken()
  const { client } = useSession()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["asset-tags", uuid, language],
    queryFn: async ({ signal }) => {
      const locale = language === "nl" ? "nl-NL" : "en-GB"
      const read = (name: string, ...uuids: ReadonlyArray<string>) =>
        call<ReadonlyArray<Json>>(client, { group: "assets", name }, ...uuids, { locale }, { signal })
      const [definitions, tags] = await Promise.all([read("listMetaTags"), read("getMetaTags", uuid)])
      return { definitions, tags }
    }
  })
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />
  if (isPending) return <p className="hint">{words.loading}</p>
  if (data.definitions.length === 0) return <Empty title={words.empty} />
  return <TagForm key={JSON.stringify(data.tags)} uuid={uuid} {...data} />
}

export default MetaTags
