import type { ReadinessCode } from "../../domain/quality/Readiness.ts"

/**
 * A rule on a variable `v` of a template and its value for a branch, in SQL: `value.text` is that as text, and `valueJson` as
 * `jsonb`. `message` is what follows the name of the value.
 */
interface Rule {
  readonly code: ReadinessCode
  readonly when: string
  readonly message: string
}

const text = "value.text"

/** Computed only where the text may be that of an object: this is several times as slow. */
const valueJson = `(case v.source when 'location' then bound.location #> value.way when 'product' then bound.product #> value.way end)`

/** Empty texts, objects and lists are no values. */
const isPresent = `${text} not in ('', '{}', '[]')`

/** Where the person who uses the template cannot enter what is not there. */
const isNeeded = "v.required and not v.editable and v.source <> 'userProfile'"

const isObject = `(left(${text}, 1) = '{' and coalesce(jsonb_typeof(${valueJson}) = 'object', false))`

/** A media item that is an image, or an address or uuid that leads to one. */
const isImage = `case when ${isObject} then coalesce(${valueJson}->>'type' = 'image', false)
  else ${text} ~ '^(https?://|[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$)' end`

const commonDay = "(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31"
const leapYear = "[0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00"

/** The form of a value as text, by the type of its variable. */
const forms: Readonly<Record<string, string>> = {
  number: "^[-+]?[0-9]+([.,][0-9]+)?$",
  boolean: "^(true|false)$",
  color: "^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$",
  date: `^([0-9]{4}-(${commonDay})|(${leapYear})-02-29)($|T)`,
  money: "^([A-Z]{3} ?|[€$£] ?)?[0-9]+([.,][0-9]{1,2})?( ?[A-Z]{3}| ?[€$£])?$"
}
const hasForm = `case v.type ${Object.entries(forms)
  .map(([type, form]) => `when '${type}' then ${text} ~ '${form}'`)
  .join(" ")} else true end`

/** The rules on values that are not there. */
const absentRules: ReadonlyArray<Rule> = [
  { code: "noImage", when: "v.type = 'image'", message: "' is not set; the template needs an image'" },
  { code: "missing", when: "true", message: "' is not set; the template needs it'" }
]

/** The rules on values; a variable has the problem of the first that holds. */
const valueRules: ReadonlyArray<Rule> = [
  { code: "noImage", when: `v.type = 'image' and not (${isImage})`, message: "' is not an image'" },
  { code: "wrongType", when: `v.type <> 'image' and ${isObject}`, message: "' has several members; name one of them'" },
  { code: "wrongType", when: `not (${hasForm})`, message: "' is not a ' || v.type" },
  {
    code: "tooLong",
    when: `v.type <> 'image' and char_length(${text}) > v."maxLength"`,
    message: `format(' has %s characters; at most %s fit', char_length(${text}), v."maxLength")`
  },
  {
    code: "notAChoice",
    when: `v.type = 'choice' and not jsonb_exists(v.choices, ${text})`,
    message: "' is not one of the choices'"
  }
]

const rules = [...absentRules, ...valueRules]

const firstOf = (some: ReadonlyArray<Rule>) =>
  `case ${some.map((rule) => `when ${rule.when} then ${rules.indexOf(rule)}`).join(" ")} end`

/** The number of the rule that a variable breaks, else null. */
export const brokenRule = `case when ${isPresent} then ${firstOf(valueRules)} when ${isNeeded} then ${firstOf(absentRules)} end`

const ofRule = (number: string, value: (rule: Rule) => string) =>
  `case ${number} ${rules.map((rule, index) => `when ${index} then ${value(rule)}`).join(" ")} end`

export const codeOf = (number: string): string => ofRule(number, ({ code }) => `'${code}'`)
export const messageOf = (number: string): string => ofRule(number, ({ message }) => message)
