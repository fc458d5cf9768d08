import {
  type Components,
  type JsonSchema,
  mapParts,
  nameOf,
  partsOf,
  referenced,
  refTo,
  rewrite
} from "./JsonSchema.ts"

/**
 * Requests are closed and responses are open: the service rejects a member that it does not know, and a later release adds
 * members to its responses. A component that both use has a closed twin for requests.
 */
const isClosed = (schema: JsonSchema): boolean =>
  schema["additionalProperties"] === false || partsOf(schema).some(isClosed)

/** Says no more than that the response is open. */
const isAnything = (schema: unknown) =>
  schema === undefined || schema === false || (typeof schema === "object" && Object.keys(schema ?? {}).length === 0)

const open = rewrite(({ additionalProperties, ...schema }) =>
  isAnything(additionalProperties) ? schema : { ...schema, additionalProperties }
)

/** Read-only members of a request have the schema of the response, because the service ignores them. */
const isSent = (schema: JsonSchema) => schema["readOnly"] !== true

const inputName = (name: string) => `${name}Input`

/** The components, and the schemas of the requests and of the responses, each for its direction. */
export const directed = (
  schemas: { readonly requests: ReadonlyArray<JsonSchema>; readonly responses: ReadonlyArray<JsonSchema> },
  components: Components
) => {
  const requested = referenced(schemas.requests, components, isSent)
  const answered = referenced(schemas.responses, components)
  const twins = new Set([...requested].filter((name) => answered.has(name) && isClosed(components[name] ?? {})))
  const request = (schema: JsonSchema): JsonSchema => {
    if (!isSent(schema)) return open(schema)
    const { $ref } = schema
    const inner = mapParts(schema, request)
    return $ref !== undefined && twins.has(nameOf($ref)) ? { ...inner, ...refTo(inputName(nameOf($ref))) } : inner
  }
  return {
    request,
    response: open,
    components: Object.fromEntries([
      ...Object.entries(components).map(
        ([name, schema]) => [name, answered.has(name) || !requested.has(name) ? open(schema) : request(schema)] as const
      ),
      ...[...twins].map((name) => [inputName(name), request(components[name] ?? {})] as const)
    ])
  }
}

/** Text with the value of a default as its last sentence. */
const described = (description: unknown, fallback: unknown) => {
  const sentence = `The default is \`${typeof fallback === "string" ? fallback : JSON.stringify(fallback)}\`.`
  return typeof description === "string" ? `${description.replace(/\.?$/, ".")} ${sentence}` : sentence
}

/**
 * The schema of a body with its defaults as sentences. Generators take a member with the keyword `default` for one that is
 * always present, and a client that fills in defaults would replace what a record has.
 */
export const withDescribedDefaults = rewrite((schema) => {
  const { default: fallback, description, ...rest } = schema
  return fallback === undefined ? schema : { ...rest, description: described(description, fallback) }
})

const maxInt32 = 2 ** 31 - 1

/** Integers that need more than 32 bits say so. */
export const withIntegerFormats = rewrite((schema) => {
  const { maximum, type } = schema
  const isLarge = (typeof maximum !== "number" && schema["enum"] === undefined) || Number(maximum) > maxInt32
  return type === "integer" && isLarge ? { ...schema, format: "int64" } : schema
})

const copied = /_\d+$/

/** Merges components that differ from another one only by the number at the end of their name. */
export const withoutCopies = (
  components: Components
): { readonly components: Components; readonly rename: (schema: JsonSchema) => JsonSchema } => {
  let copies = new Set(
    Object.keys(components).filter((name) => copied.test(name) && name.replace(copied, "") in components)
  )
  const rename = rewrite((schema) => {
    const { $ref } = schema
    return $ref !== undefined && copies.has(nameOf($ref))
      ? { ...schema, ...refTo(nameOf($ref).replace(copied, "")) }
      : schema
  })
  const textOf = (name: string) => JSON.stringify(rename(components[name] ?? {}))
  for (;;) {
    const equal = new Set([...copies].filter((name) => textOf(name) === textOf(name.replace(copied, ""))))
    if (equal.size === copies.size) break
    copies = equal
  }
  const kept = Object.entries(components).filter(([name]) => !copies.has(name))
  return { components: Object.fromEntries(kept.map(([name, schema]) => [name, rename(schema)])), rename }
}
