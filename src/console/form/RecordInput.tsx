import { useQuery } from "@tanstack/react-query"
import { ariaDescribedByIds, getTemplate, type WidgetProps } from "@rjsf/utils"
import { useState } from "react"
import { Link } from "wouter"
import definition from "virtual:definition"
import type { Json } from "../../domain/schema/Json.ts"
import { labelOf } from "../data/Calls.ts"
import { type Resource, resourceNamesOf } from "../definition/Definition.ts"
import { Picker } from "../record/Picker.tsx"
import { useSession } from "../session/Session.tsx"
import { CrossButton } from "../shell/CrossButton.tsx"
import { useNames, useWords } from "../words/Words.tsx"

const resourcesOf = (schema: object): ReadonlyArray<Resource> => {
  const names = resourceNamesOf(schema)
  return definition.resources.filter(({ name }) => names.includes(name))
}

interface Found {
  readonly resource: Resource
  readonly record: Json
}

/** The record that a value names: of the first of the resources that has it. */
const useNamed = (resources: ReadonlyArray<Resource>, value: string | undefined) => {
  const { named } = useSession()
  return useQuery({
    queryKey: ["named", value],
    enabled: value !== undefined,
    queryFn: async (): Promise<Found | null> => {
      for (const resource of resources) {
        const record = await named(resource, value!)
        if (record !== undefined) return { resource, record }
      }
      return null
    }
  })
}

/** A member that names a record: what it names, and a search for another one. */
const RecordInput = ({
  disabled,
  id,
  onChange,
  resources,
  value
}: WidgetProps & { resources: ReadonlyArray<Resource> }) => {
  const words = useWords()
  const names = useNames()
  const [choosing, setChoosing] = useState<Resource>()
  const text = typeof value === "string" && value !== "" ? value : undefined
  const { data: found } = useNamed(resources, text)
  return (
    <span className="record-input">
      {text === undefined ? null : found ? (
        <Link href={`/${found.resource.name}/${text}`}>{labelOf(found.record, found.resource.label)}</Link>
      ) : (
        <code>{text}</code>
      )}
      {resources.map((resource, index) => (
        <button
          key={resource.name}
          type="button"
          id={index === 0 ? id : undefined}
          aria-describedby={ariaDescribedByIds(id)}
          disabled={disabled === true}
          onClick={() => setChoosing(resource)}
        >
          {resources.length === 1 ? words.choose : `${words.choose} ${names.one(resource.name)}`}
        </button>
      ))}
      {text === undefined ? null : (
        <CrossButton label={words.removeItem} disabled={disabled === true} onClick={() => onChange(undefined)} />
      )}
      {choosing === undefined ? null : (
        <Picker
          resource={choosing}
          isSingle
          close={() => setChoosing(undefined)}
          pick={([uuid]) => {
            setChoosing(undefined)
            onChange(uuid)
          }}
        />
      )}
    </span>
  )
}

/** A text that may have more characters than this has lines. */
const maxOfLine = 300
const lines = 5

const LongText = ({ disabled, id, onChange, value }: WidgetProps) => (
  <textarea
    id={id}
    aria-describedby={ariaDescribedByIds(id)}
    rows={lines}
    value={typeof value === "string" ? value : ""}
    disabled={disabled === true}
    onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)}
  />
)

/** A text; of a record that the key may read, its name. */
export const TextInput = (props: WidgetProps) => {
  const { can } = useSession()
  const resources = resourcesOf(props.schema).filter(({ actions }) => can(actions.list))
  if (resources.length > 0) return <RecordInput {...props} resources={resources} />
  if ((props.schema.maxLength ?? 0) > maxOfLine && props.schema.format === undefined) return <LongText {...props} />
  const Input = getTemplate("BaseInputTemplate", props.registry, props.options)
  return <Input {...props} />
}
