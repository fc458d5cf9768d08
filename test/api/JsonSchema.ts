/** The subset of JSON Schema that the OpenAPI document uses. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The supported keywords; a schema with any other keyword fails, so that none is ignored silently. */
const known = new Set(
  [
    ["$ref", "type", "enum", "const", "anyOf", "oneOf", "allOf", "properties", "required", "additionalProperties"],
    ["items", "minItems", "maxItems", "uniqueItems", "minLength", "maxLength", "pattern", "format"],
    ["minimum", "maximum", "multipleOf", "description", "title", "default", "examples", "readOnly", "deprecated"],
    ["discriminator", "x-absent-with", "x-references"]
  ].flat()
)

const formats: Readonly<Record<string, RegExp>> = {
  uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/
}

const typeOf = (value: unknown): ReadonlyArray<string> => {
  if (value === null) return ["null"]
  if (Array.isArray(value)) return ["array"]
  if (typeof value === "number") return Number.isInteger(value) ? ["number", "integer"] : ["number"]
  return [typeof value]
}

/** All problems of a value by its JSON schema. */
export const problemsOf = (
  value: unknown,
  schema: JsonSchema,
  components: Readonly<Record<string, JsonSchema>>,
  at = "$"
): ReadonlyArray<string> => {
  const check = (inner: unknown, innerSchema: unknown, path = at) =>
    problemsOf(inner, innerSchema as JsonSchema, components, path)
  const problems: Array<string> = Object.keys(schema)
    .filter((keyword) => !known.has(keyword))
    .map((keyword) => `${at}: the keyword ${keyword} is not checked`)
  const must = (holds: boolean, what: string) => {
    if (!holds) problems.push(`${at}: ${JSON.stringify(value)} ${what}`)
  }
  const list = (keyword: string) => schema[keyword] as ReadonlyArray<unknown> | undefined
  const bound = (keyword: string, holds: (limit: number) => boolean) => {
    const limit = schema[keyword]
    if (typeof limit === "number") must(holds(limit), `breaks ${keyword} ${limit}`)
  }

  if (typeof schema["$ref"] === "string") {
    const name = schema["$ref"].replace("#/components/schemas/", "")
    const target = components[name]
    if (target === undefined) problems.push(`${at}: there is no component ${name}`)
    else problems.push(...check(value, target))
  }
  const types =
    schema["type"] === undefined ? undefined : ([schema["type"]].flat() as ReadonlyArray<unknown>).map(String)
  if (types !== undefined)
    must(
      typeOf(value).some((type) => types.includes(type)),
      `is not ${types.join(" or ")}`
    )
  if (list("enum")) must(list("enum")!.includes(value), "is not in the enumeration")
  if ("const" in schema) must(schema["const"] === value, "is not the constant")
  for (const part of list("allOf") ?? []) problems.push(...check(value, part))
  const alternatives = (list("anyOf") ?? list("oneOf"))?.map((part) => check(value, part))
  if (alternatives?.every((found) => found.length > 0)) {
    problems.push(`${at}: matches no alternative: ${alternatives.flat().join("; ")}`)
  }

  if (typeof value === "string") {
    const length = Array.from(value).length
    bound("minLength", (limit) => length >= limit)
    bound("maxLength", (limit) => length <= limit)
    if (typeof schema["pattern"] === "string")
      must(new RegExp(schema["pattern"], "u").test(value), "breaks the pattern")
    const format = formats[String(schema["format"])]
    if (format !== undefined) must(format.test(value), `is not a ${String(schema["format"])}`)
  }
  if (typeof value === "number") {
    bound("minimum", (limit) => value >= limit)
    bound("maximum", (limit) => value <= limit)
    bound("multipleOf", (step) => Number.isInteger(value / step))
  }
  if (Array.isArray(value)) {
    bound("minItems", (limit) => value.length >= limit)
    bound("maxItems", (limit) => value.length <= limit)
    if (schema["items"] !== undefined) {
      problems.push(...value.flatMap((item, index) => check(item, schema["items"], `${at}.${index}`)))
    }
  } else if (typeof value === "object" && value !== null) {
    const properties = (schema["properties"] ?? {}) as Readonly<Record<string, unknown>>
    for (const name of list("required") ?? []) must(Object.hasOwn(value, String(name)), `lacks ${String(name)}`)
    for (const [name, inner] of Object.entries(value)) {
      if (Object.hasOwn(properties, name)) problems.push(...check(inner, properties[name], `${at}.${name}`))
      else must(schema["additionalProperties"] !== false, `has the unknown ${name}`)
    }
  }
  return problems
}
