import { type FieldProps, getDecimalSeparator } from "@rjsf/utils"
import { useState } from "react"
import { textOf } from "../data/Calls.ts"

/** The number that a text is, the text if it is none, and nothing of one that is empty. */
const numberOf = (text: string): number | string | undefined => {
  if (text.trim() === "") return undefined
  const number = Number(text.replace(getDecimalSeparator(), "."))
  return Number.isNaN(number) ? text : number
}

/**
 * A number. Where decimals have a comma, its input is one of text. It keeps what is typed as long as that is the value of the
 * form: the field of rjsf shows the value instead, in which the `-0` that `-0,5` begins with has no sign.
 */
export const NumberField = (props: FieldProps) => {
  const { formData, onChange, registry } = props
  const StringField = registry.fields["StringField"]!
  const [typed, setTyped] = useState("")
  const shown = numberOf(typed) === formData ? typed : String(formData ?? "").replace(".", getDecimalSeparator())
  const change: FieldProps["onChange"] = (value: unknown, ...where) => {
    const text = textOf(value)
    setTyped(text)
    onChange(numberOf(text), ...where)
  }
  return <StringField {...props} formData={shown} onChange={change} />
}
