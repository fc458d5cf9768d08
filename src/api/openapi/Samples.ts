import { Predicate } from "effect"
import { type JsonSchema, nameOf, propertiesOf } from "./JsonSchema.ts"

/**
 * An example of a JSON schema: its own if it has one, else one made of its parts. Optional members without an example are
 * omitted.
 */
export const sampleOf = (schema: JsonSchema, components: Readonly<Record<string, JsonSchema>>): unknown => {
  const named = (ref: string) => components[nameOf(ref)] ?? {}
  const sample = (inner: unknown) => (Predicate.isObject(inner) ? sampleOf(inner, components) : undefined)
  const isReadOnly = ({ $ref, readOnly }: JsonSchema): boolean =>
    readOnly === true || (typeof $ref === "string" && isReadOnly(named($ref)))
  const { $ref, anyOf, default: fallback, enum: values, examples, items, oneOf, type } = schema
  if (typeof $ref === "string") return sample(named($ref))
  if (Array.isArray(examples)) return examples[0]
  if (fallback !== undefined) return fallback
  if (Array.isArray(values)) return values[0]
  if (Array.isArray(anyOf)) return sample(anyOf[0])
  if (Array.isArray(oneOf)) return sample(oneOf[0])
  switch (type) {
    case "object":
      return objectOf(schema, sample, isReadOnly)
    case "array": {
      const item = items === undefined ? undefined : sample(items)
      return item === undefined ? [] : [item]
    }
    case "integer":
    case "number":
      return 1
    case "boolean":
      return true
    default:
      return schema["format"] === "uuid" ? "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30" : undefined
  }
}

const objectOf = (
  schema: JsonSchema,
  sample: (schema: unknown) => unknown,
  isReadOnly: (schema: JsonSchema) => boolean
) => {
  const { required } = schema
  const names: ReadonlyArray<unknown> = Array.isArray(required) ? required : []
  const members = Object.entries(propertiesOf(schema))
    .filter(([, member]) => !isReadOnly(member))
    .map(([name, member]) => [name, sample(member) ?? (names.includes(name) ? "…" : undefined)] as const)
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}
