import { type Exit, Result, Schema } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../../src/api/Api.ts"
import * as Issues from "../../src/domain/write/Issues.ts"

interface Declared {
  /** `group.endpoint`, the operationId of the OpenAPI document. */
  readonly id: string
  readonly method: string
  readonly path: RegExp
  readonly answers: ReadonlyMap<number, Bodies>
}

/** The bodies that an answer can have. */
interface Bodies {
  readonly decode: (body: unknown) => Exit.Exit<unknown, unknown>
  /** The decoder of each body. */
  readonly each: ReadonlyArray<(body: unknown) => Result.Result<unknown, Schema.SchemaError>>
}

type Codec = Schema.Codec<unknown, unknown>

const strict = { onExcessProperty: "error", errors: "all" } as const

const codecOf = (schema: Schema.Top) => Schema.toCodecJson(schema) as unknown as Codec

/** The decoders are made once, because they are compiled when they are made. */
const bodiesOf = (codecs: ReadonlyArray<Codec>): Bodies => ({
  decode: Schema.decodeUnknownExit(Schema.Union(codecs), strict),
  each: codecs.map((codec) => Schema.decodeUnknownResult(codec, strict))
})

const declared: ReadonlyArray<Declared> = (() => {
  const endpoints: Array<Declared> = []
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, errors, group, successes }) => {
      const pattern = endpoint.path.replace(/(.)\/$/, "$1").replaceAll(/:[A-Za-z]+/g, "[^/]+")
      const answers = new Map(
        [...successes, ...errors].map(([status, schemas]) => [status, bodiesOf(Array.from(schemas, codecOf))])
      )
      const id = `${group.identifier}.${endpoint.identifier}`
      endpoints.push({ id, method: endpoint.method, path: new RegExp(`^${pattern}/?$`), answers })
    }
  })
  // A path without parameters is more specific than one with them.
  return endpoints.toSorted((a, b) => a.path.source.split("[^/]").length - b.path.source.split("[^/]").length)
})()

/** The answer to a write that is only validated, which every write of one record can have and none declares. */
const validated = bodiesOf([
  codecOf(Schema.Struct({ _tag: Schema.Literal("Success"), data: Schema.Struct({ valid: Schema.Literal(true) }) }))
])

const none = bodiesOf([])

/** Whether a body decodes, but for members that it does not have. */
const isPart = (result: Result.Result<unknown, Schema.SchemaError>): boolean =>
  Result.isSuccess(result) || Issues.describe(result.failure.issue, "body").every(({ code }) => code === "required")

/** What is checked of a response: the text is that of a body of JSON, and a header has its name in lower case. */
interface Answer {
  readonly status: number
  readonly header: (name: string) => unknown
  readonly text: string | undefined
}

/** The text of a response with a body of JSON. */
export const textOf = async (response: Response): Promise<string | undefined> => {
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true
  return isJson && response.body !== null ? response.text() : undefined
}

/** Fails unless an error has the id of its request; one that is repeated has that of the first request. */
const checkRequestId = ({ header, status, text }: Answer, body: unknown) => {
  if (status < 400 || typeof header("idempotent-replayed") === "string") return
  const { _tag, requestId } = body as Readonly<Record<string, unknown>>
  if (_tag !== undefined && requestId !== header("x-request-id"))
    throw new Error(`${status} without the id of its request: ${text}`)
}

/**
 * Fails unless a response matches the definition: a declared status, and a body that decodes with its schema without
 * excess members. The read path returns PostgreSQL's JSON without decoding it, so only this checks it. Returns the
 * operation of the response, if any.
 */
export const checkAnswer = (
  method: string,
  { pathname: path, searchParams }: URL,
  answer: Answer
): string | undefined => {
  const { header, status, text } = answer
  const endpoint = declared.find((candidate) => candidate.method === method && candidate.path.test(path))
  // Other operations answer with files, which may have the type of JSON.
  const isJson = text !== undefined && (endpoint !== undefined || status >= 400)
  const body: unknown = isJson ? JSON.parse(text) : undefined
  if (isJson) checkRequestId(answer, body)
  const isStream = header("content-type") === "text/event-stream"
  if (endpoint === undefined || [204, 304].includes(status) || isStream) return endpoint?.id
  const isValidated = header("preference-applied") === "validate-only" && !endpoint.id.endsWith(".bulk")
  const { decode, each } = isValidated ? validated : (endpoint.answers.get(status) ?? none)
  if (searchParams.has("fields") && each.some((decode) => isPart(decode(body)))) return endpoint.id
  const exit = decode(body)
  if (exit._tag === "Success") return endpoint.id
  throw new Error(
    `${method} ${path} returned ${status} with a body that the definition does not declare:\n${text}\n${JSON.stringify(exit)}`
  )
}
