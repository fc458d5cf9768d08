import Form from "@rjsf/core"
import type { UiSchema } from "@rjsf/utils"
import { type ReactNode, useMemo, useRef, useState } from "react"
import forms from "virtual:forms"
import { useMessage } from "../shell/Failure.tsx"
import { unsavedMark } from "../shell/Leaving.ts"
import { type Json, objectOf } from "../../domain/schema/Json.ts"
import type { Action } from "../definition/Definition.ts"
import { useFormats, useNames, useWords } from "../words/Words.tsx"
import { assetPatchOf, filled, inForm, isSame, patchOf } from "./Patch.ts"
import { errorsOf, problemsElsewhere, problemsOf } from "./Problems.ts"
import { fields, templates, widgets } from "./Templates.tsx"
import { validator } from "./Validator.ts"

interface Props {
  /** The operation that takes what the form has. */
  readonly action: Action
  readonly initial: Json
  /** Sends what was typed: only the changes of an operation that patches. The form keeps all of it until this succeeds. */
  readonly send: (data: Json, options: { readonly isForced: boolean }) => Promise<unknown>
  /** What to do about a write that another client was faster with; `force` sends what is typed by then. */
  readonly conflict?: (force: () => void) => ReactNode
}

/** What went wrong with the data that was sent. */
interface Failure {
  readonly error: unknown
  readonly data: Json
}

const uiSchema: UiSchema = { "ui:submitButtonOptions": { norender: true } }

/**
 * Whether an input has text that the browser does not read as a value of it, such as a day without a time: the form would send it
 * as nothing. The browser shows what is wrong with it.
 */
const reportsUnreadable = (form: unknown): boolean => {
  if (!(form instanceof HTMLFormElement)) return false
  const inputs = [...form.elements].filter((element) => element instanceof HTMLInputElement)
  const input = inputs.find(({ validity }) => validity.badInput)
  if (input === undefined) return false
  for (let part: Element | null = input; part !== null; part = part.parentElement) {
    if (part instanceof HTMLDetailsElement) part.open = true
  }
  return !input.reportValidity()
}

/** A form that derives from what an operation takes. Every problem that the service reports stands at its field. */
const RecordForm = ({ action, conflict, initial, send }: Props) => {
  const words = useWords()
  const messageOf = useMessage()
  const names = useNames()
  const formats = useFormats()
  const operation = `${action.group}.${action.name}`
  const schema = useMemo(() => ({ ...forms.forms[operation], $defs: forms.definitions }), [operation])
  const [begun] = useState(() => objectOf(inForm(schema, forms.definitions, initial)))
  const [data, setData] = useState<Json>(begun)
  const [failure, setFailure] = useState<Failure>()
  const [isBusy, setBusy] = useState(false)
  const isPatch = action.name === "update"
  const changedBy = operation === "assets.update" ? assetPatchOf : patchOf
  const changes = isPatch ? changedBy(begun, data) : objectOf(filled(data))
  const isUnchanged = isPatch && Object.keys(changes).length === 0
  const form = useRef<Form>(null)
  const submit = async (isForced: boolean) => {
    if (reportsUnreadable(form.current?.formElement.current)) return
    setBusy(true)
    setFailure(undefined)
    try {
      await send(changes, { isForced })
    } catch (error) {
      setFailure({ error, data })
    } finally {
      setBusy(false)
    }
  }
  const error = failure?.error
  const problems = problemsOf(error)
  const elsewhere = problemsElsewhere(problems, schema, forms.definitions)
  const isConflict = messageOf(error).tag === "PreconditionFailedError"
  return (
    <Form
      ref={form}
      className="record-form"
      schema={schema}
      uiSchema={uiSchema}
      validator={validator}
      templates={templates}
      fields={fields}
      widgets={widgets}
      formData={data}
      extraErrors={errorsOf(error, failure?.data)}
      extraErrorsBlockSubmit={false}
      // An optional list with an empty element would be sent, as one without elements.
      experimental_defaultFormStateBehavior={{ arrayMinItems: { populate: "requiredOnly" } }}
      noHtml5Validate
      disabled={isBusy}
      onChange={(event) => setData(objectOf(event.formData))}
      onSubmit={() => void submit(false)}
    >
      {error === undefined ? null : (
        <div className="problem" role="alert">
          <p>
            {isConflict && conflict !== undefined
              ? words.changedByOther
              : problems.length > 0
                ? words.problems(formats.number(problems.length))
                : messageOf(error).text}
          </p>
          {elsewhere.length === 0 ? null : (
            <ul className="plain">
              {elsewhere.map(({ message, path }) => (
                <li key={`${path} ${message}`}>
                  <strong>{names.whole(path)}</strong> {message}
                </li>
              ))}
            </ul>
          )}
          {isConflict ? conflict?.(() => void submit(true)) : null}
        </div>
      )}
      <p className="actions" {...unsavedMark(!isSame(begun, data), isBusy)}>
        <button type="submit" className="primary" disabled={isBusy || isUnchanged}>
          {isBusy ? words.saving : words.save}
        </button>
        {isUnchanged ? <span className="hint">{words.noChanges}</span> : null}
      </p>
    </Form>
  )
}

export default RecordForm
