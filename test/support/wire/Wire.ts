import { NodeServices } from "@effect/platform-node"
import { Context, Effect, Layer, Logger } from "effect"
import { HttpServer } from "effect/http"
import { request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http"
import { connect } from "node:net"
import * as Permission from "../../../src/domain/keys/Permission.ts"
import { InFlight } from "../../../src/http/transport/InFlight.ts"
import * as ListeningUrl from "../../../src/app/ListeningUrl.ts"
import type { Database, Sql } from "../../../src/sql/Sql.ts"
import * as Services from "../../../src/app/layers/Services.ts"
import * as Server from "../../../src/app/Server.ts"
import { ApiKeys } from "../../../src/services/ApiKeys.ts"
import * as Postgres from "../Postgres.ts"
import { patience, settings } from "../TestServer.ts"

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- the tests look inside, and an assertion shows what is missing
  readonly body: any
}

export interface Sent {
  readonly body?: string | Uint8Array
  readonly headers?: OutgoingHttpHeaders
  /** The key; by default the one with all permissions, `null` sends none. */
  readonly key?: string | null
  /** Sends the body with chunked encoding. */
  readonly chunked?: boolean
  /** The address of the client. */
  readonly from?: string
}

/** The service on a socket, composed as in main.ts. */
export class Wire extends Context.Service<
  Wire,
  {
    readonly port: number
    readonly fullKey: string
    readonly key: (permissions: ReadonlyArray<Permission.Permission>) => Effect.Effect<string>
    readonly send: (method: string, path: string, sent?: Sent) => Effect.Effect<Answer>
    /** Writes bytes to a socket; returns the last response and the number of responses until it was closed. */
    readonly raw: (bytes: string | Uint8Array) => Effect.Effect<Answer & { readonly answers: number }>
    /** The log so far, as lines of JSON. */
    readonly logs: ReadonlyArray<string>
  }
>()("waypost/test/Wire") {}

const parse = (text: string): unknown => {
  try {
    return text === "" ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

const sendOver =
  (port: number, fullKey: string) =>
  (method: string, path: string, sent: Sent = {}) =>
    Effect.promise(
      () =>
        new Promise<Answer>((resolve, reject) => {
          const body = sent.body === undefined ? undefined : Buffer.from(sent.body)
          const headers = {
            ...(sent.key === null ? {} : { authorization: sent.key ?? fullKey }),
            ...(body === undefined ? {} : { "content-type": "application/json" }),
            ...(body === undefined
              ? {}
              : sent.chunked === true
                ? { "transfer-encoding": "chunked" }
                : { "content-length": body.length }),
            ...sent.headers
          }
          const from = sent.from === undefined ? {} : { localAddress: sent.from }
          const options = { host: "127.0.0.1", port, method, path, headers, agent: false, ...from } as const
          const outgoing = request(options, (incoming) => {
            const chunks: Array<Buffer> = []
            incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
            incoming.on("error", reject)
            incoming.on("end", () => {
              const text = Buffer.concat(chunks).toString("utf8")
              resolve({ status: incoming.statusCode!, headers: incoming.headers, text, body: parse(text) })
            })
          })
          outgoing.on("error", reject)
          if (sent.chunked === true && body !== undefined) {
            outgoing.write(body.subarray(0, body.length >> 1))
            outgoing.end(body.subarray(body.length >> 1))
          } else outgoing.end(body)
        })
    )

/** Decodes a chunked body; sufficient for the short ASCII bodies of errors. */
const withoutChunks = (text: string) =>
  text
    .split("\r\n")
    .filter((_, line) => line % 2 === 1)
    .join("")

/** The last response in received bytes, and the number of responses. */
const answerOf = (bytes: Buffer): Answer & { readonly answers: number } => {
  const all = bytes.toString("utf8")
  const [head = "", ...rest] = all.slice(all.lastIndexOf("HTTP/1.1 ")).split("\r\n\r\n")
  const [statusLine = "", ...lines] = head.split("\r\n")
  const headers: IncomingHttpHeaders = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()])
  )
  const text = headers["transfer-encoding"] === "chunked" ? withoutChunks(rest.join("\r\n\r\n")) : rest.join("\r\n\r\n")
  const answers = all.split("HTTP/1.1 ").length - 1
  return { status: Number(statusLine.split(" ")[1]), headers, text, body: parse(text), answers }
}

const rawOver = (port: number) => (bytes: string | Uint8Array) =>
  Effect.promise(
    () =>
      new Promise<ReturnType<typeof answerOf>>((resolve, reject) => {
        const chunks: Array<Buffer> = []
        const socket = connect(port, "127.0.0.1", () => socket.write(bytes))
        socket.on("data", (chunk) => chunks.push(chunk))
        socket.on("error", (error: NodeJS.ErrnoException) => {
          // A server that responded and closed may reset the connection while data is still being sent.
          if (chunks.length === 0) reject(error)
        })
        socket.on("close", () => resolve(answerOf(Buffer.concat(chunks))))
      })
  )

/** The service on a free port, with a database of its own. */
export const layer = (values: Readonly<Record<string, string>> = {}) => layerOn(Postgres.sql, values)

/** The service on a free port, with the given pools, whose statements and answers have more time than in production. */
export const layerOn = <A, E, R>(
  sql: Layer.Layer<Sql | Database | A, E, R>,
  values: Readonly<Record<string, string>> = {}
) => {
  const logs: Array<string> = []
  const logger = Logger.map(Logger.formatJson, (line) => void logs.push(line))
  const wire = Effect.gen(function* () {
    const keys = yield* ApiKeys
    const { address } = yield* HttpServer.HttpServer
    const port = "port" in address ? address.port : 0
    const key = (permissions: ReadonlyArray<Permission.Permission>) =>
      Effect.map(keys.createUnchecked({ name: "Test", permissions }), (created) => created.key)
    const fullKey = yield* key(Permission.all)
    return Wire.of({ port, fullKey, key, send: sendOver(port, fullKey), raw: rawOver(port), logs })
  })
  return Layer.effect(Wire, wire).pipe(
    Layer.provideMerge(Server.layer),
    Layer.provide(Services.layer),
    Layer.provide(ListeningUrl.layer),
    Layer.provide(Server.listen),
    Layer.provide(InFlight.layer),
    Layer.provideMerge(Layer.provide(sql, Postgres.patience)),
    Layer.provideMerge(settings({ PORT: "0", ...values })),
    Layer.provide([Logger.layer([logger]), NodeServices.layer, patience])
  )
}
