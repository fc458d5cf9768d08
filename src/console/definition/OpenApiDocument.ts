import { Predicate } from "effect"
import { openApi } from "../../api/Api.ts"
import { type Json, memberOf } from "../../domain/schema/Json.ts"

/** A part of the OpenAPI document. */
export type Node = Json

const nodeIn = (node: unknown, ...path: ReadonlyArray<string>): Node | undefined => {
  const found = memberOf(node, ...path)
  return Predicate.isObject(found) ? found : undefined
}

/** An operation of the document, with its method and its path. */
export interface Documented {
  readonly group: string
  readonly name: string
  readonly method: string
  readonly path: string
  readonly node: Node
}

const document: Node = { ...openApi() }

/** All operations of the API, in the order of the document. */
export const documented: ReadonlyArray<Documented> = Object.entries(nodeIn(document, "paths") ?? {}).flatMap(
  ([path, methods]) =>
    Object.entries(Predicate.isObject(methods) ? methods : {}).flatMap(([method, node]) => {
      if (!Predicate.isObject(node) || typeof node["operationId"] !== "string") return []
      const [group = "", name = ""] = node["operationId"].split(".")
      return [{ group, name, method, path, node }]
    })
)

export const schemas: Node = nodeIn(document, "components", "schemas") ?? {}

/** The schema of the JSON that an operation takes. */
export const bodyOf = ({ node }: Documented): Node | undefined =>
  nodeIn(node, "requestBody", "content", "application/json", "schema")

/** The schema of a parameter of an operation, which several operations may share. */
const parameterOf = ({ node }: Documented, name: string): Node | undefined => {
  const parameters: ReadonlyArray<unknown> = Array.isArray(node["parameters"]) ? node["parameters"] : []
  const found = parameters
    .map((parameter) => {
      const reference = Predicate.isObject(parameter) ? parameter["$ref"] : undefined
      return typeof reference === "string" ? nodeIn(document, ...reference.split("/").slice(1)) : parameter
    })
    .find((parameter) => Predicate.isObject(parameter) && parameter["name"] === name)
  return nodeIn(found, "schema")
}

/** The values that a parameter of an operation may have. */
export const valuesOf = (operation: Documented, parameter: string): ReadonlyArray<string> => {
  const values = parameterOf(operation, parameter)?.["enum"]
  return Array.isArray(values) ? values.map(String) : []
}

/** The value that a parameter has by default. */
export const defaultOf = (operation: Documented, parameter: string): string | undefined => {
  const value = parameterOf(operation, parameter)?.["default"]
  return typeof value === "string" ? value : undefined
}
