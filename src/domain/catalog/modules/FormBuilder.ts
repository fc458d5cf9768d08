import { Schema } from "effect"
import { matching } from "../../schema/Checks.ts"
import { distinct } from "../../schema/Distinct.ts"
import * as PatternCost from "../../schema/PatternCost.ts"
import { Email, storable, text } from "../../schema/Fields.ts"
import { flag, inOrder, list, partUuid, position, translations, unless } from "../ModuleFields.ts"
import { withDefault } from "../../write/Markers.ts"
import * as Module from "../ModuleShape.ts"
import * as FormPatterns from "./FormPatterns.ts"
import { int } from "../../schema/WholeNumber.ts"

const types = [
  ...(["text", "textarea", "email", "phone", "url", "number", "date", "select", "multiselect", "radio"] as const),
  ...(["checkbox", "country", "state", "file", "asset", "location", "message"] as const)
] as const

/** Those that choose among `options`. */
const chooses: ReadonlySet<string> = new Set(["select", "multiselect", "radio"])

const FieldKey = Schema.String.check(
  matching(/^[a-z][a-zA-Z0-9_]{0,49}$/, "a letter in lower case, then at most 49 letters, digits and _")
).annotate({ examples: ["companyName"] })

/** An expression of RE2: it takes time in proportion to the text, whatever the text. */
const Pattern = Schema.String.check(
  storable(),
  Schema.isMaxLength(200, { expected: "at most 200 characters", code: "tooLong" }),
  Schema.makeFilter<string>((pattern) => pattern.length > 200 || PatternCost.writtenOut(pattern) <= 2000, {
    expected: "an expression whose counted repetitions are at most 2000 characters when written out",
    code: "tooLong"
  })
).annotate({ examples: ["^[0-9]{4}$"] })

const value = Schema.Union([text(5000, { multiline: true }), Schema.Finite, Schema.Boolean])
const length = Schema.optionalKey(int(0, 100_000))

const Field = Schema.Struct({
  key: FieldKey,
  type: Schema.Literals(types),
  translations: translations({
    label: text(255),
    placeholder: Schema.optionalKey(text(255)),
    helpText: Schema.optionalKey(text(1000, { multiline: true }))
  }),
  required: flag(false),
  defaultValue: Schema.optionalKey(Schema.Union([...value.members, Schema.Array(text(255))])),
  width: withDefault(Schema.Literals([25, 50, 75, 100]), 100),
  options: list(Schema.Struct({ value: text(255), translations: translations({ label: text(255) }) }), {
    max: 500,
    of: "options",
    uniqueBy: "value"
  }),
  validation: Schema.optionalKey(
    Schema.Struct({
      min: Schema.optionalKey(Schema.Finite),
      max: Schema.optionalKey(Schema.Finite),
      minLength: length,
      maxLength: length,
      pattern: Schema.optionalKey(Pattern)
    })
  ),
  visibleWhen: Schema.optionalKey(
    Schema.Struct({
      field: FieldKey,
      operator: Schema.Literals(["equals", "notEquals", "contains", "gt", "gte", "lt", "lte", "filled", "empty"]),
      value: Schema.optionalKey(value)
    })
  ),
  position
})

/** The questions asked when the product is ordered. */
export const FormBuilderModule = Module.make(
  "form-builder",
  {
    formUuid: partUuid,
    translations: translations({
      title: text(255),
      intro: Schema.optionalKey(text(5000, { multiline: true })),
      submitLabel: Schema.optionalKey(text(100)),
      confirmation: Schema.optionalKey(text(5000, { multiline: true }))
    }),
    fields: list(Field, { min: 1, max: 100, of: "fields", uniqueBy: "key" }),
    recipients: distinct(Email, 20, "recipients"),
    attachToOrder: flag(true)
  },
  ({ fields }) => {
    const keys = new Set(fields.map(({ key }) => key))
    const patterns = FormPatterns.problemsOf(fields)
    return fields.flatMap(({ key, options, type, validation, visibleWhen }, index) => [
      ...unless(
        !chooses.has(type) || options.length > 0,
        `fields.${index}.options`,
        "required",
        `A field of type ${type} needs options`
      ),
      ...(patterns[index] ?? []),
      ...unless(
        inOrder(validation?.min, validation?.max),
        `fields.${index}.validation.max`,
        "notInOrder",
        "max must not be less than min"
      ),
      ...unless(
        inOrder(validation?.minLength, validation?.maxLength),
        `fields.${index}.validation.maxLength`,
        "notInOrder",
        "maxLength must not be less than minLength"
      ),
      ...unless(
        visibleWhen === undefined || (visibleWhen.field !== key && keys.has(visibleWhen.field)),
        `fields.${index}.visibleWhen.field`,
        "unknownField",
        "visibleWhen must name another field of the form"
      )
    ])
  }
)
