import { type Json, objectOf } from "../../domain/schema/Json.ts"
import { listOf, type Resolve, textOf } from "./Json.ts"

/** A schema as a reader sees it: without references, `allOf`, and the variant `null`. */
export interface Shape {
  readonly node: Json
  /** The name of the component, if the schema is one. */
  readonly name: string | undefined
  readonly isNullable: boolean
  /** The alternatives, if there are several. */
  readonly variants: ReadonlyArray<unknown>
}

const nameOf = (value: unknown) => textOf(objectOf(value)["$ref"])?.split("/").at(-1)

const merged = (first: Json, second: Json): Json => ({
  ...first,
  ...second,
  ...("properties" in first || "properties" in second
    ? { properties: { ...objectOf(first["properties"]), ...objectOf(second["properties"]) } }
    : {}),
  ...("required" in first || "required" in second
    ? { required: [...listOf(first["required"]), ...listOf(second["required"])] }
    : {})
})

const isText = (node: Json) => node["type"] === "string" && !("format" in node)

export const shapeOf = (resolve: Resolve, value: unknown): Shape => {
  const { allOf, anyOf, oneOf, type, ...own } = resolve(value)
  const types = Array.isArray(type) ? listOf(type).filter((each) => each !== "null") : [type]
  const typed = types[0] === undefined ? own : { ...own, type: types[0] }
  const node = listOf(allOf)
    .map((part) => shapeOf(resolve, part).node)
    .reduce(merged, typed)
  const all = [...listOf(anyOf), ...listOf(oneOf)]
  const variants = all.filter((variant) => resolve(variant)["type"] !== "null")
  const isNullable = variants.length < all.length || (Array.isArray(type) && type.includes("null"))
  const [only] = variants
  if (variants.length === 1) {
    const inner = shapeOf(resolve, only)
    return { ...inner, node: merged(node, inner.node), isNullable: isNullable || inner.isNullable }
  }
  const texts = variants.map(resolve)
  // Known values of a text that may be any other.
  if (texts.length > 1 && texts.every(isText)) {
    const values = texts.flatMap((text) => listOf(text["enum"] ?? ("const" in text ? [text["const"]] : [])))
    return {
      node: {
        ...node,
        type: "string",
        enum: values,
        isOpen: texts.some((text) => !("enum" in text || "const" in text))
      },
      name: nameOf(value),
      isNullable,
      variants: []
    }
  }
  return { node, name: nameOf(value), isNullable, variants }
}

/** The type in words: `array of uuid`. */
export const wordsOf = (resolve: Resolve, value: unknown, depth = 0): string => {
  const { isNullable, node, variants } = shapeOf(resolve, value)
  const base =
    variants.length > 0 && depth < 3
      ? [...new Set(variants.map((variant) => wordsOf(resolve, variant, depth + 1)))].join(" or ")
      : baseOf(resolve, node, depth)
  return isNullable ? `${base} or null` : base
}

const baseOf = (resolve: Resolve, node: Json, depth: number) => {
  const constant = node["const"] ?? (listOf(node["enum"]).length === 1 ? listOf(node["enum"])[0] : undefined)
  if (constant !== undefined && node["isOpen"] !== true) return JSON.stringify(constant)
  const format = textOf(node["format"])
  switch (node["type"]) {
    case "array":
      return depth < 3 ? `array of ${wordsOf(resolve, node["items"], depth + 1)}` : "array"
    case "string":
      return format ?? "string"
    default:
      return textOf(node["type"]) ?? "object"
  }
}

const range = (minimum: unknown, maximum: unknown, unit: string) => {
  if (minimum === undefined && maximum === undefined) return []
  const [from, to] = [JSON.stringify(minimum), JSON.stringify(maximum)]
  if (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER) return [`at least ${from}${unit}`]
  if (minimum === undefined || (minimum === 0 && unit !== "")) return [`at most ${to}${unit}`]
  return [`${from} to ${to}${unit}`]
}

/** The bounds of a value in words. */
export const limitsOf = (node: Json): ReadonlyArray<string> => [
  ...range(node["minLength"], node["maxLength"], " characters"),
  ...range(node["minimum"], node["maximum"], ""),
  ...range(node["minItems"], node["maxItems"], " elements"),
  ...("default" in node ? [`default ${JSON.stringify(node["default"])}`] : []),
  ...(node["readOnly"] === true ? ["read only"] : [])
]
