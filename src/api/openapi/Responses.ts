import { Context, Predicate, Record, Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { offers } from "../writes/SafeWrites.ts"
import { objectOf, objectsIn } from "../../domain/schema/Json.ts"
import {
  commonErrors,
  IdempotencyInProgressError,
  IdempotencyKeyReusedError
} from "../../domain/write/RequestErrors.ts"
import { headersOf, namesFor, namesForError, safeWriteHeaders, SpecialHeaders } from "./Headers.ts"
import { type JsonSchema, nameOf, refTo, rewrite } from "./JsonSchema.ts"
import { type Content, type Placed, type Response, shared } from "./Operation.ts"
import { contentOf, isStream } from "./Streams.ts"

/** The tag of an error, by the reference to its schema. */
const tagOf = ({ $ref }: JsonSchema) => nameOf($ref).replace(/Encoded$/, "")

/** The reference to the schema of an error. */
const refOf = (error: (typeof commonErrors)[number]) => refTo(`${error.fields._tag.schema.literal}Encoded`)

const json = (schema: JsonSchema): Content => ({ "application/json": { schema } })

/** One of several errors. Their `_tag` is the discriminator, which languages without unions of types need. */
const oneOfErrors = (errors: ReadonlyArray<JsonSchema>): JsonSchema => ({
  oneOf: errors,
  discriminator: {
    propertyName: "_tag",
    mapping: Object.fromEntries(errors.map((error) => [tagOf(error), error["$ref"]]))
  }
})

/** A schema whose members that are one of several errors have the tags of these as discriminator. */
export const withErrorTags = rewrite((schema) => {
  const { anyOf, ...rest } = schema
  const errors = objectsIn(anyOf)
  return errors.length > 0 && errors.every(({ $ref }) => nameOf($ref).endsWith("ErrorEncoded"))
    ? { ...rest, ...oneOfErrors(errors) }
    : schema
})

/** The responses that any operation can have, one for each error. */
export const commonResponses = (): Readonly<Record<string, Response>> =>
  Object.fromEntries(
    commonErrors.map((error) => {
      const tag = error.fields._tag.schema.literal
      const description = String(Schema.resolveAnnotations(error)?.["description"])
      return [tag, { description, headers: headersOf(...namesForError(tag)), content: json(refOf(error)) }]
    })
  )

/** The response with any status that an operation does not list. */
const transportError = (): Response => ({
  description: "Any other status: an error that any operation can answer with, by its `_tag`.",
  headers: headersOf("X-Request-Id", "Retry-After", "Allow"),
  content: json(oneOfErrors(commonErrors.map(refOf)))
})

/** The response to a read whose condition holds. */
const notModified: Response = {
  description: "What `If-None-Match` names is current. The response has no body.",
  headers: headersOf("X-Request-Id", "ETag")
}

const commonRefs: ReadonlySet<unknown> = new Set(commonErrors.map((error) => refOf(error).$ref))

const repeatRefs: ReadonlySet<unknown> = new Set(
  [IdempotencyKeyReusedError, IdempotencyInProgressError].map((error) => refOf(error).$ref)
)

/**
 * The response without its common errors, if it has others. Those of repeated requests are listed where the status has
 * another error; elsewhere a client that sends no `Idempotency-Key` would have to handle them.
 */
const ofOperation = (response: Response, endpoint: HttpApiEndpoint.Top): Response | undefined => {
  const media = response.content?.["application/json"]
  if (media === undefined) return response
  const { anyOf } = media.schema
  const schemas = Array.isArray(anyOf) ? anyOf.filter(Predicate.isObject) : [media.schema]
  const isRepeatable = offers(endpoint, "Idempotency-Key")
  const others = schemas.filter(({ $ref }) => !commonRefs.has($ref))
  const own =
    others.length === 0
      ? []
      : schemas.filter(({ $ref }) => !commonRefs.has($ref) || (isRepeatable && repeatRefs.has($ref)))
  const [first] = own
  if (first === undefined) return undefined
  if (first["$ref"] === undefined) return response
  return {
    description: own.map(tagOf).join(" | "),
    headers: headersOf(...own.flatMap(({ $ref }) => (repeatRefs.has($ref) ? namesForError(tagOf({ $ref })) : []))),
    content: json(own.length === 1 ? first : oneOfErrors(own))
  }
}

/** The responses of an operation, with their headers; those that it does not list are its default. */
export const responsesOf = (
  { method, operation }: Placed,
  endpoint: HttpApiEndpoint.Top
): Readonly<Record<string, Response>> => {
  const kind = isStream(operation) ? "stream" : method
  return {
    ...Object.fromEntries(
      Object.entries(operation.responses).flatMap(([status, derived]) => {
        const { content, ...response } = ofOperation(derived, endpoint) ?? {
          content: undefined,
          description: "",
          headers: {}
        }
        const special = [
          ...Context.getOrElse(endpoint.annotations, SpecialHeaders, () => []),
          ...safeWriteHeaders(endpoint)
        ]
        return content === undefined
          ? []
          : [
              [
                status,
                {
                  ...response,
                  headers: { ...headersOf(...namesFor(kind, status, special)), ...response.headers },
                  content: contentOf(content)
                }
              ]
            ]
      })
    ),
    ...(kind === "get" ? { 304: notModified } : {}),
    default: transportError()
  }
}

/** The name of the envelope of a success, by what it contains. */
const envelopeName = ({ properties }: JsonSchema): string | undefined => {
  const { applied, data, pagination } = objectOf(properties)
  if (!Predicate.isObject(data)) return undefined
  const { $ref, items, properties: members } = data
  if ($ref !== undefined) return `${nameOf($ref)}Answer`
  if (Predicate.isObject(items) && items["$ref"] !== undefined) {
    if (applied !== undefined) return `${nameOf(items["$ref"]).replace(/Outcome$/, "")}BulkAnswer`
    return `${nameOf(items["$ref"])}${pagination === undefined ? "List" : "Page"}`
  }
  return Predicate.isObject(members) && Object.keys(members).join() === "uuid" ? "UuidAnswer" : undefined
}

/** Names the envelopes of successes, and references them. */
export const namedEnvelopes = (operations: ReadonlyArray<Placed>) => {
  const components = new Map<string, JsonSchema>()
  const named = (schema: JsonSchema) => {
    const name = envelopeName(schema)
    if (name === undefined) return schema
    const known = components.get(name) ?? schema
    if (JSON.stringify(known) !== JSON.stringify(schema)) return schema
    components.set(name, schema)
    return refTo(name)
  }
  const referencing = operations.map((placed) => ({
    ...placed,
    operation: {
      ...placed.operation,
      responses: Record.map(placed.operation.responses, ({ content, ...response }) =>
        content === undefined
          ? response
          : { ...response, content: Record.map(content, (media) => ({ ...media, schema: named(media.schema) })) }
      )
    }
  }))
  return { operations: referencing, components: Object.fromEntries(components) }
}

/** The errors of a response as a name: `InvalidFilterOrInvalidRequestError`. */
const responseName = ({ content }: Response) => {
  if (content === undefined) return "NotModified"
  const schema = content["application/json"]?.schema ?? {}
  const { $ref, oneOf } = schema
  if ($ref !== undefined) return tagOf(schema)
  const tags = objectsIn(oneOf).map(tagOf)
  if (tags.length === commonErrors.length) return "TransportError"
  return tags.length === 0 ? undefined : `${tags.map((tag) => tag.replace(/Error$/, "")).join("Or")}Error`
}

/**
 * The errors that several operations have, by name, and a function that references them. Successes stay with their
 * operations: swagger-typescript-api reads no body of a success that is a reference.
 */
export const sharedResponses = (operations: ReadonlyArray<Placed>) => {
  const values = operations.flatMap(({ operation: { operationId, responses } }) =>
    Object.entries(responses).flatMap(([status, response]) =>
      status.startsWith("2") ? [] : [[operationId, response] as const]
    )
  )
  return shared("responses", values, ({ value }) => [responseName(value)].filter((name) => name !== undefined))
}
