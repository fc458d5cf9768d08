import { Predicate, Record } from "effect"
import { HttpApi, type HttpApiEndpoint, type HttpApiGroup } from "effect/http-api"
import { absentWith } from "../../domain/query/Pagination.ts"
import { withAlternatives } from "./Alternatives.ts"
import { directed, withDescribedDefaults, withIntegerFormats, withoutCopies } from "./Direction.ts"
import { requestExamples } from "./Examples.ts"
import { headerComponents } from "./Headers.ts"
import { type Components, flatten, type JsonSchema, propertiesOf } from "./JsonSchema.ts"
import { type Content, mapOperations, type Paths, type Placed } from "./Operation.ts"
import { parametersOf, sharedParameters } from "./Parameters.ts"
import { commonResponses, namedEnvelopes, responsesOf, sharedResponses, withErrorTags } from "./Responses.ts"
import { sampleOf } from "./Samples.ts"
import { withoutStreamed } from "./Streams.ts"

/**
 * Completes the document that Effect derives.
 *
 * Parameters get their decoded schemas, media types an example, and responses their headers. Requests are closed and
 * responses open. What several operations have is a component that they reference, so that generated code has one type
 * for it. Errors that any operation can answer with are the response `default` of each.
 */
interface Derived {
  readonly paths: Paths
  readonly components: { readonly schemas: Components }
}

/** Flattens every schema of a value, because many tools ignore checks in `allOf`. */
const flattenAll = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(flattenAll)
  return Predicate.isObject(value) ? Record.map(flatten(value), flattenAll) : value
}

/** The components by name, so that a new operation that uses some of them first does not move the others. */
const byName = (schemas: Components): Components =>
  Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** Removes components that only reference another one. */
const withoutAliases = (schemas: Components): Components =>
  Object.fromEntries(Object.entries(schemas).filter(([, schema]) => !("$ref" in schema)))

const endpointsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>) => {
  const endpoints = new Map<string, HttpApiEndpoint.Top>()
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      const path = endpoint.path.replaceAll(/:([A-Za-z]+)/g, "{$1}").replace(/(.)\/$/, "$1")
      endpoints.set(`${endpoint.method.toLowerCase()} ${path}`, endpoint)
    }
  })
  return endpoints
}

/** The parameters with which a member of a pagination is absent, by the member. */
const parametersBy: Readonly<Record<string, ReadonlyArray<string>>> = absentWith

/** Says of each member of a pagination with which parameters it is absent; others cannot be absent. */
const withAbsence = (pagination: JsonSchema): JsonSchema => ({
  ...pagination,
  properties: Record.map(propertiesOf(pagination), (member, name) => {
    const parameters = parametersBy[name]
    return parameters === undefined ? member : { ...member, "x-absent-with": parameters }
  })
})

/** The schema of permissions with the names that an operation requires or describes; the others stay valid, unnamed. */
const withUsedNames = (permission: JsonSchema, operations: ReadonlyArray<Placed>): JsonSchema => {
  const used = new Set(
    operations.flatMap(({ operation }) => [
      ...(operation["x-required-permissions"] ?? []),
      ...(operation.description ?? "").matchAll(/(?<=`)[a-z]+:[a-z-]+(?=`)/g).map(([name]) => name)
    ])
  )
  const { enum: names, type, ...rest } = permission
  const named = Array.isArray(names) ? names.filter((name) => used.has(name)) : []
  return { ...rest, anyOf: [{ type, enum: named }, { type }] }
}

const mapSchemas = (content: Content, f: (schema: JsonSchema) => JsonSchema): Content =>
  Record.map(content, (media) => ({ ...media, schema: f(media.schema) }))

const schemasOf = (contents: ReadonlyArray<Content | undefined>) =>
  contents.flatMap((content) => Object.values(content ?? {}).map(({ schema }) => schema))

/** The operation with its bodies replaced. */
const mapBodies = (
  { operation, ...placed }: Placed,
  request: (content: Content) => Content,
  response: (content: Content) => Content
): Placed => ({
  ...placed,
  operation: {
    ...operation,
    ...(operation.requestBody === undefined
      ? {}
      : { requestBody: { ...operation.requestBody, content: request(operation.requestBody.content) } }),
    responses: Record.map(operation.responses, ({ content, ...rest }) =>
      content === undefined ? rest : { ...rest, content: response(content) }
    )
  }
})

/** Completes the derived document of an API. */
export const complete = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  derived: Record<string, any>
): Record<string, any> => {
  const document = flattenAll(derived) as Record<string, any> & Derived
  const endpoints = endpointsOf(api)
  const { components: originals, rename } = withoutCopies(withoutAliases(document.components.schemas))
  const described = Object.values(mapOperations(document.paths, (placed) => placed)).flatMap((methods) =>
    Object.values(methods).map((placed): Placed => {
      const endpoint = endpoints.get(`${placed.method} ${placed.path}`)
      const operation =
        endpoint === undefined
          ? placed.operation
          : {
              ...placed.operation,
              parameters: parametersOf(placed, endpoint),
              responses: responsesOf(placed, endpoint)
            }
      return mapBodies(
        { ...placed, operation },
        (content) => mapSchemas(content, rename),
        (content) => mapSchemas(content, rename)
      )
    })
  )
  const { Pagination: pagination, Permission: permission, ...others } = originals
  const components = {
    ...others,
    ...(pagination === undefined ? {} : { Pagination: withAbsence(pagination) }),
    ...(permission === undefined ? {} : { Permission: withUsedNames(permission, described) })
  }
  const withExamples = (content: Content, example?: unknown) =>
    Record.map(content, (media) => ({
      ...media,
      example: example ?? media.example ?? sampleOf(media.schema, components)
    }))
  const common = Record.map(commonResponses(), ({ content = {}, ...rest }) => ({
    ...rest,
    content: withExamples(content)
  }))
  const sampled = described.map((placed) =>
    mapBodies(
      placed,
      (content) => withExamples(content, requestExamples[placed.operation.operationId]),
      (content) => withExamples(content)
    )
  )
  const direction = directed(
    {
      requests: schemasOf(sampled.map(({ operation }) => operation.requestBody?.content)),
      responses: schemasOf([
        ...Object.values(common).map(({ content }) => content),
        ...sampled.flatMap(({ operation }) => Object.values(operation.responses).map(({ content }) => content))
      ])
    },
    components
  )
  const finish = (schema: JsonSchema) => withErrorTags(withIntegerFormats(withDescribedDefaults(schema)))
  const envelopes = namedEnvelopes(
    sampled.map((placed) =>
      mapBodies(
        placed,
        (content) => mapSchemas(content, (schema) => finish(direction.request(schema))),
        (content) => mapSchemas(content, (schema) => finish(direction.response(schema)))
      )
    )
  )
  const parameters = sharedParameters(envelopes.operations)
  const responses = sharedResponses(envelopes.operations)
  const operations = new Map(
    envelopes.operations.map((placed) => [`${placed.method} ${placed.path}`, placed.operation])
  )
  return {
    ...document,
    servers,
    paths: mapOperations(document.paths, ({ method, operation, path }) => {
      const made = operations.get(`${method} ${path}`) ?? operation
      return {
        ...made,
        parameters: made.parameters.map(parameters.reference),
        responses: Record.map(made.responses, responses.reference)
      }
    }),
    components: {
      ...document.components,
      schemas: byName(
        withoutStreamed(
          { ...withAlternatives(Record.map(direction.components, finish)), ...envelopes.components },
          envelopes.operations
        )
      ),
      responses: { ...responses.components, ...common },
      parameters: parameters.components,
      headers: headerComponents
    }
  }
}

/** The service on this machine. The document that a service serves has the URL of that service. */
const servers = [{ url: "http://localhost:3000", description: "A service on this machine." }]
