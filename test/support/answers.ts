import { Schema } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../../src/api/Api.ts"
import { TransportError } from "../../src/domain/RequestErrors.ts"

interface Declared {
  readonly method: string
  readonly path: RegExp
  readonly answers: ReadonlyMap<number, Schema.Codec<unknown, unknown>>
}

const declared: ReadonlyArray<Declared> = (() => {
  const endpoints: Array<Declared> = []
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, errors, successes }) => {
      const pattern = endpoint.path.replace(/(.)\/$/, "$1").replaceAll(/:[A-Za-z]+/g, "[^/]+")
      const answers = new Map(
        [...successes, ...errors].map(([status, schemas]) => [
          status,
          Schema.toCodecJson(Schema.Union([...schemas])) as unknown as Schema.Codec<unknown, unknown>
        ])
      )
      endpoints.push({ method: endpoint.method, path: new RegExp(`^${pattern}/?$`), answers })
    }
  })
  return endpoints
})()

const transport = Schema.toCodecJson(TransportError) as unknown as Schema.Codec<unknown, unknown>

/**
 * Fails unless an answer is what the definition says: a declared status, a body that decodes with its schema and has
 * nothing more. The read path passes PostgreSQL's JSON through unread, so this is what holds it to the contract.
 */
export const checkAnswer = async (method: string, path: string, response: Response): Promise<void> => {
  const endpoint = declared.find((candidate) => candidate.method === method && candidate.path.test(path))
  if (endpoint === undefined || [204, 304].includes(response.status)) return
  const body = await response.json()
  const schema = endpoint.answers.get(response.status)
  const decode = (codec: Schema.Codec<unknown, unknown>) =>
    Schema.decodeUnknownExit(codec, { onExcessProperty: "error", errors: "all" })(body)
  const exits = [...(schema === undefined ? [] : [schema]), ...(response.status >= 400 ? [transport] : [])].map(decode)
  if (!exits.some((exit) => exit._tag === "Success")) {
    throw new Error(
      `${method} ${path} answered ${response.status} with what the definition does not declare:\n${JSON.stringify(body)}\n${JSON.stringify(exits)}`
    )
  }
}
