import { Schema, SchemaAST } from "effect"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { commonErrors } from "../../domain/write/RequestErrors.ts"
import { flatten, sampleOf } from "./Samples.ts"

/**
 * Completes the document that Effect derives.
 *
 * A query parameter is text on the wire and is derived as text; it gets its decoded schema, such as an integer from 1 to
 * 500 for `limit`. Errors that any operation can answer with are documented once, and not with each operation. Media
 * types get an example, made of the examples and bounds of their schemas.
 */
type JsonSchema = Readonly<Record<string, unknown>>

interface MediaType {
  readonly schema: JsonSchema
  example?: unknown
}

interface Response {
  readonly description: string
  readonly content?: Record<string, MediaType>
}

interface Operation {
  readonly parameters: Array<{ readonly name: string; readonly in: string; schema: JsonSchema; description?: string }>
  readonly requestBody?: { readonly content: Record<string, MediaType> }
  responses: Record<string, Response>
  readonly description?: string
  readonly "x-required-permissions"?: ReadonlyArray<string>
}

const refPrefix = "#/components/schemas/"

const commonResponses = (): Readonly<Record<string, Response>> =>
  Object.fromEntries(
    commonErrors.map((error) => {
      const name = error.fields._tag.schema.literal
      const schema = { $ref: `${refPrefix}${name}Encoded` }
      const description = String(Schema.resolveAnnotations(error)?.["description"])
      return [name, { description, content: { "application/json": { schema } } }]
    })
  )

/** The response without its common errors, if it has others. */
const withoutCommon = (response: Response, isCommon: (schema: JsonSchema) => boolean): ReadonlyArray<Response> => {
  const media = response.content?.["application/json"]
  if (media === undefined) return [response]
  const schemas: ReadonlyArray<JsonSchema> = Array.isArray(media.schema["anyOf"])
    ? media.schema["anyOf"]
    : [media.schema]
  const own = schemas.filter((schema) => !isCommon(schema))
  if (own.length === schemas.length) return [response]
  const [first] = own
  if (first === undefined) return []
  const names = own.map(({ $ref }) =>
    String($ref)
      .slice(refPrefix.length)
      .replace(/Encoded$/, "")
  )
  const schema = own.length === 1 ? first : { anyOf: own }
  return [{ description: names.join(" | "), content: { "application/json": { schema } } }]
}

/** The schema of a decoded parameter, unless it is text. */
const decodedSchema = (ast: SchemaAST.AST): JsonSchema | undefined => {
  const schema: JsonSchema = Schema.toJsonSchemaDocument(Schema.make(SchemaAST.toType(ast))).schema
  const { type } = schema
  return type === "integer" || type === "number" || type === "boolean" || "enum" in schema ? flatten(schema) : undefined
}

const withDecodedParameters = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  paths: Readonly<Record<string, Record<string, Operation>>>
) =>
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      const path = endpoint.path.replaceAll(/:([A-Za-z]+)/g, "{$1}").replace(/(.)\/$/, "$1")
      const operation = paths[path]?.[endpoint.method.toLowerCase()]
      const query = endpoint.query?.ast
      if (operation === undefined) return
      const properties = query !== undefined && SchemaAST.isObjects(query) ? query.propertySignatures : []
      const decoded = new Map(properties.map(({ name, type }) => [String(name), decodedSchema(type)]))
      for (const parameter of operation.parameters) {
        parameter.schema = (parameter.in === "query" && decoded.get(parameter.name)) || single(parameter.schema)
        parameter.description ??= descriptionOf(parameter.name, parameter.schema)
      }
    }
  })

/** The schema of a single value, of a parameter that may be repeated. */
const single = ({ anyOf, ...schema }: JsonSchema): JsonSchema =>
  Array.isArray(anyOf) ? { ...(anyOf[0] as JsonSchema), ...schema } : { ...schema }

const descriptionOf = (name: string, { description }: JsonSchema) =>
  typeof description === "string" ? description : (descriptions[name] ?? `The ${name} of the record.`)

const descriptions: Readonly<Record<string, string>> = {
  limit: "The number of records of a page.",
  page: "The page, from 1. A page after the end is empty and has the exact total.",
  sortBy: "The field to sort by. Records without the value come last.",
  sortOrder: "The direction; ties are broken by uuid, so pages never overlap."
}

/** Flattens every schema of a value, because many tools ignore checks in `allOf`. */
const flattenAll = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(flattenAll)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(flatten(value as JsonSchema)).map(([name, inner]) => [name, flattenAll(inner)])
  )
}

/** Removes components that only reference another one. */
const withoutAliases = (schemas: Record<string, JsonSchema>) =>
  Object.fromEntries(Object.entries(schemas).filter(([, schema]) => !("$ref" in schema)))

/** The schema of permissions with the names that an operation requires or describes; the others stay valid, unnamed. */
const withUsedNames = (permission: JsonSchema, operations: ReadonlyArray<Operation>): JsonSchema => {
  const used = new Set(
    operations.flatMap((operation) => [
      ...(operation["x-required-permissions"] ?? []),
      ...(operation.description ?? "").matchAll(/(?<=`)[a-z]+:[a-z-]+(?=`)/g).map(([name]) => name)
    ])
  )
  const { enum: names, type, ...rest } = permission
  const named = Array.isArray(names) ? names.filter((name) => used.has(name)) : []
  return { ...rest, anyOf: [{ type, enum: named }, { type }] }
}

/** Completes the derived document of an API. */
export const complete = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  derived: Record<string, any>
): Record<string, any> => {
  const document = flattenAll(derived) as Record<string, any>
  const paths: Record<string, Record<string, Operation>> = document["paths"]
  const schemas = withoutAliases(document["components"].schemas)
  withDecodedParameters(api, paths)
  const responses = commonResponses()
  const isCommon = ({ $ref }: JsonSchema) => typeof $ref === "string" && commonRefs.has($ref)
  const commonRefs = new Set(
    Object.values(responses).map(({ content }) => content?.["application/json"]?.schema["$ref"])
  )
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  for (const operation of operations) {
    operation.responses = Object.fromEntries(
      Object.entries(operation.responses).flatMap(([status, response]) =>
        withoutCommon(response, isCommon).map((rest) => [status, rest])
      )
    )
  }
  const permission = schemas["Permission"]
  if (permission !== undefined) schemas["Permission"] = withUsedNames(permission, operations)
  const contents = [
    ...operations.map(({ requestBody }) => requestBody?.content),
    ...[responses, ...operations.map(({ responses }) => responses)].flatMap((each) =>
      Object.values(each).map(({ content }) => content)
    )
  ]
  for (const media of contents.flatMap((content) => Object.values(content ?? {}))) {
    media.example = sampleOf(media.schema, schemas)
  }
  return { ...document, servers: [{ url: "/" }], components: { ...document["components"], schemas, responses } }
}
