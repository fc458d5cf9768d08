import { Predicate } from "effect"

/** A JSON object of the OpenAPI document. */
export type Node = Readonly<Record<string, unknown>>

/** The value as an object; an empty one when it is something else. */
export const nodeOf = (value: unknown): Node => (Predicate.isObject(value) ? value : {})

export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

export const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

/** Follows references of a document to the object that they name. */
export const resolverOf = (document: Node) => {
  const resolve = (value: unknown): Node => {
    const node = nodeOf(value)
    const reference = textOf(node["$ref"])
    if (reference === undefined) return node
    const target = reference
      .split("/")
      .slice(1)
      .reduce<unknown>((inner, name) => nodeOf(inner)[name], document)
    const { $ref: _reference, ...own } = node
    return { ...resolve(target), ...own }
  }
  return resolve
}

export type Resolve = ReturnType<typeof resolverOf>
