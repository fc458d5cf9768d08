import {
  ariaDescribedByIds,
  type ArrayFieldItemTemplateProps,
  type ArrayFieldTemplateProps,
  type FieldTemplateProps,
  type ObjectFieldTemplateProps,
  type RegistryFieldsType,
  type RegistryWidgetsType,
  type TemplatesType,
  type WidgetProps
} from "@rjsf/utils"
import { useState } from "react"
import { resourceNamesOf } from "../definition/Definition.ts"
import { CrossButton } from "../shell/CrossButton.tsx"
import { useNames, useWords } from "../words/Words.tsx"
import { NumberField } from "./NumberField.tsx"
import { TextInput } from "./RecordInput.tsx"

/** What ends the id of a choice between types. */
const ofAlternatives = "__anyof_select"

const lastOf = (id: string) => id.slice(id.lastIndexOf("_") + 1)

/** A field with its label, its help and its problems, which screen readers read with it. */
const Field = (props: FieldTemplateProps) => {
  const { children, description, displayLabel, hidden, id, rawErrors = [], required, schema } = props
  const names = useNames()
  if (hidden === true) return <div hidden>{children}</div>
  const [resource] = resourceNamesOf(schema)
  // The uuid of a person is a person.
  const isRecord = lastOf(id) === "uuid" && resource !== undefined
  const ownName = isRecord ? names.one(resource) : names.member(lastOf(id))
  // An element of a list is below the name of the list, and has it for screen readers.
  const [, list, place] = /^(.*)_(\d+)$/.exec(id) ?? []
  const name = list === undefined ? ownName : `${names.member(lastOf(list))} ${(Number(place) + 1).toString()}`
  const isChecked = schema.type === "boolean"
  return (
    <div className="field" data-invalid={rawErrors.length > 0}>
      {displayLabel === true && !isChecked ? (
        <label htmlFor={id} className={list === undefined ? undefined : "visually-hidden"}>
          <span>
            {name}
            {required === true ? <span aria-hidden="true"> *</span> : null}
          </span>
        </label>
      ) : null}
      {children}
      {displayLabel === true || isChecked ? description : null}
      {rawErrors.length > 0 ? (
        <ul className="problems" id={`${id}__error`} role="alert">
          {rawErrors.map((message) => (
            <li key={message}>{message}</li>
          ))}
        </ul>
      ) : null}
    </div>
  )
}

const ObjectField = ({ fieldPathId, properties, title }: ObjectFieldTemplateProps) => {
  const names = useNames()
  const id = fieldPathId.$id
  const members = properties.map(({ content, hidden, name }) => (hidden ? null : <div key={name}>{content}</div>))
  if (id === "root" || /^\d+$/.test(lastOf(id))) return <div className="members">{members}</div>
  return (
    <details className="object" open={properties.length < 8}>
      <summary>{names.member(lastOf(id)) || title}</summary>
      <div className="members">{members}</div>
    </details>
  )
}

const ArrayItem = ({ buttonsProps, children, hasToolbar }: ArrayFieldItemTemplateProps) => {
  const words = useWords()
  const { hasMoveDown, hasMoveUp, hasRemove, onMoveDownItem, onMoveUpItem, onRemoveItem } = buttonsProps
  return (
    <li>
      {children}
      {hasToolbar ? (
        <span className="toolbar">
          {hasMoveUp ? (
            <button type="button" className="quiet" aria-label={words.moveUp} onClick={onMoveUpItem}>
              ↑
            </button>
          ) : null}
          {hasMoveDown ? (
            <button type="button" className="quiet" aria-label={words.moveDown} onClick={onMoveDownItem}>
              ↓
            </button>
          ) : null}
          {hasRemove ? <CrossButton label={words.removeItem} onClick={onRemoveItem} /> : null}
        </span>
      ) : null}
    </li>
  )
}

const ArrayField = ({ canAdd, fieldPathId, items, onAddClick }: ArrayFieldTemplateProps) => {
  const words = useWords()
  const names = useNames()
  return (
    <fieldset className="array">
      <legend>{names.member(lastOf(fieldPathId.$id))}</legend>
      <ol>{items}</ol>
      {canAdd === true ? (
        <button type="button" onClick={onAddClick}>
          {words.add}
        </button>
      ) : null}
    </fieldset>
  )
}

/**
 * A checkbox and its name on one line. A member that begins without a value is a choice instead: the service decides what it is
 * until something is chosen, so that a box which is off would be wrong.
 */
const Checkbox = (props: WidgetProps) => {
  const { disabled, id, onChange, value } = props
  const words = useWords()
  const names = useNames()
  const [isUnset] = useState(value === undefined)
  if (isUnset) {
    const enumOptions = [
      { value: true, label: words.yes },
      { value: false, label: words.no }
    ]
    return (
      <label>
        <span>{names.member(lastOf(id))}</span>
        <Select {...props} options={{ enumOptions }} />
      </label>
    )
  }
  return (
    <label className="check">
      <input
        id={id}
        type="checkbox"
        aria-describedby={ariaDescribedByIds(id)}
        checked={value === true}
        disabled={disabled === true}
        onChange={(event) => onChange(event.target.checked)}
      />
      {names.member(lastOf(id))}
    </label>
  )
}

const isChosen = (value: unknown, word: unknown) => Array.isArray(value) && value.includes(word)

/** One word of an enumeration, or any number of them. */
const Select = ({ disabled, id, multiple, onChange, options, required, value }: WidgetProps) => {
  const words = useWords()
  const names = useNames()
  const all = options.enumOptions ?? []
  const isOfTypes = id.endsWith(ofAlternatives)
  if (multiple !== true) {
    return (
      <select
        id={id}
        aria-label={isOfTypes ? names.member(lastOf(id.slice(0, -ofAlternatives.length))) : undefined}
        aria-describedby={ariaDescribedByIds(id)}
        value={String(value ?? "")}
        required={required === true}
        disabled={disabled === true}
        onChange={(event) => onChange(all.find(({ value: word }) => String(word) === event.target.value)?.value)}
      >
        <option value="">{words.choose}</option>
        {all.map(({ label, value: word }) => (
          <option key={label} value={String(word)}>
            {isOfTypes ? (words.types[label] ?? label) : label}
          </option>
        ))}
      </select>
    )
  }
  return (
    <fieldset className="array choices" id={id} aria-describedby={ariaDescribedByIds(id)}>
      <legend>{names.member(lastOf(id))}</legend>
      {all.map(({ label, value: word }) => (
        <label className="check" key={label}>
          <input
            type="checkbox"
            checked={isChosen(value, word)}
            disabled={disabled === true}
            onChange={() =>
              onChange(all.map((option) => option.value).filter((one) => (one === word) !== isChosen(value, one)))
            }
          />
          {label}
        </label>
      ))}
    </fieldset>
  )
}

export const fields: RegistryFieldsType = { NumberField }

export const widgets: RegistryWidgetsType = { CheckboxWidget: Checkbox, SelectWidget: Select, TextWidget: TextInput }

export const templates: Partial<TemplatesType> = {
  FieldTemplate: Field,
  ObjectFieldTemplate: ObjectField,
  ArrayFieldTemplate: ArrayField,
  ArrayFieldItemTemplate: ArrayItem,
  // The form shows problems at their fields, and how many there are at its end.
  ErrorListTemplate: () => null,
  FieldErrorTemplate: () => null
}
