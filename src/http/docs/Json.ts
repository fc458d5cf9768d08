import { type Json, objectOf } from "../../domain/schema/Json.ts"

export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

export const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

/** Follows references of a document to the object that they name. */
export const resolverOf = (document: Json) => {
  const resolve = (value: unknown): Json => {
    const node = objectOf(value)
    const reference = textOf(node["$ref"])
    if (reference === undefined) return node
    const target = reference
      .split("/")
      .slice(1)
      .reduce<unknown>((inner, name) => objectOf(inner)[name], document)
    const { $ref: _reference, ...own } = node
    return { ...resolve(target), ...own }
  }
  return resolve
}

export type Resolve = ReturnType<typeof resolverOf>
