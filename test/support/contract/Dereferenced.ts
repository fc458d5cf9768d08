type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null

/**
 * An OpenAPI document with its references to parameters, responses and headers replaced by what they name. References to
 * schemas stay, because schemas can be recursive.
 */
export const dereferenced = (document: unknown): unknown => {
  const at = (pointer: string): unknown =>
    pointer
      .slice(2)
      .split("/")
      .reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), document)
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit)
    if (!isObject(value)) return value
    const { $ref } = value
    if (typeof $ref === "string" && /^#\/components\/(?:parameters|responses|headers)\//.test($ref))
      return visit(at($ref))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, visit(inner)]))
  }
  return visit(document)
}
