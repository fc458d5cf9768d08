import { Context, Data, Effect, Layer } from "effect"
import * as http from "node:http"
import * as https from "node:https"
import { isIP } from "node:net"
import { AttemptLimit } from "../../repositories/webhooks/DeliveryQueue.ts"
import { version } from "../../settings/Version.ts"
import { Egress, type EgressError, type Target } from "./Egress.ts"

/** A message to be sent to a URL. */
export interface Message {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What came of sending a message. */
export interface Sent {
  /** Absent if the receiver did not answer. */
  readonly status?: number
  /** The begin of the answer; absent if it comes from a private address. */
  readonly answer?: string
  /** Why it was no success. */
  readonly error?: string
  readonly millis: number
}

/** Bytes of an answer that are read at most, and those that a test shows. */
const maxBytes = 64 * 1024
const shownBytes = 1024

/** Sends messages to receivers. */
export class Sender extends Context.Service<
  Sender,
  {
    /** The headers of every message. */
    readonly headers: Readonly<Record<string, string>>
    /** Never fails: what goes wrong is in the result. */
    send(message: Message): Effect.Effect<Sent>
  }
>()("waypost/services/webhooks/Sender") {
  static readonly layer = Layer.effect(
    Sender,
    Effect.gen(function* () {
      const egress = yield* Egress
      const timeLimit = yield* AttemptLimit
      const agents = yield* Effect.acquireRelease(
        Effect.sync(() => makeAgents(timeLimit)),
        ({ http, https }) =>
          Effect.sync(() => {
            http.destroy()
            https.destroy()
          })
      )
      const headers = { "content-type": "application/json", "user-agent": `Waypost/${version()}` }

      const exchange = Effect.fnUntraced(function* (message: Message, deadline: number) {
        const target = yield* egress.target(message.url)
        const post = request(agents, target, { ...message, headers: { ...headers, ...message.headers } }, deadline)
        // The receiver may close a connection that was kept open at the moment in which it is used again.
        const { status, text } = yield* Effect.retry(post, { while: ({ isStale }) => isStale, times: 3 })
        return {
          status,
          ...(target.isPrivate ? {} : { answer: text }),
          ...(isSuccess(status) ? {} : { error: `Status ${status}` })
        }
      })

      const send = (message: Message): Effect.Effect<Sent> =>
        Effect.gen(function* () {
          const began = performance.now()
          const sent = yield* exchange(message, began + timeLimit - 100).pipe(
            Effect.catch((error) => Effect.succeed({ error: errorOf(error) })),
            Effect.timeoutOrElse({
              duration: timeLimit,
              orElse: () => Effect.succeed({ error: `No answer within ${timeLimit / 1000} s` })
            })
          )
          return { ...sent, millis: Math.round(performance.now() - began) }
        })

      return Sender.of({ headers, send })
    })
  )
}

export const isSuccess = (status: number) => status >= 200 && status < 300

const errorOf = (error: EgressError | BrokenExchangeError) =>
  error._tag === "BrokenExchangeError" ? error.message : `The URL ${error.message}`

/** Connections are kept open for the next message to the same address. */
const makeAgents = (timeLimit: number) => {
  const options = { keepAlive: true, maxFreeSockets: 32, timeout: 4 * timeLimit, scheduling: "lifo" as const }
  return { http: new http.Agent(options), https: new https.Agent(options) }
}

/** The exchange broke. */
class BrokenExchangeError extends Data.TaggedError("BrokenExchangeError")<{
  readonly message: string
  /** Whether the connection had been used before and nothing came over it. */
  readonly isStale: boolean
}> {}

/**
 * Posts to the first address of a target, without another lookup, and reads the begin of the answer. What arrives after the
 * deadline is not read; the status counts all the same.
 */
const request = (
  agents: ReturnType<typeof makeAgents>,
  { addresses: [address], url }: Target,
  { body, headers }: Message,
  deadline: number
): Effect.Effect<{ readonly status: number; readonly text: string }, BrokenExchangeError> =>
  Effect.callback((resume) => {
    const isSecure = url.protocol === "https:"
    const bytes = Buffer.from(body)
    const host = url.hostname.replace(/^\[|\]$/g, "")
    const options = {
      method: "POST",
      host: address,
      port: url.port === "" ? undefined : Number(url.port),
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host, "content-length": String(bytes.length) },
      ...(isSecure && isIP(host) === 0 ? { servername: host } : {})
    }
    const sent = isSecure
      ? https.request({ ...options, agent: agents.https })
      : http.request({ ...options, agent: agents.http })
    sent.on("error", (error) => {
      const isStale = sent.reusedSocket && isReset(error)
      resume(new BrokenExchangeError({ message: error.message, isStale }))
    })
    sent.on("response", (response) => {
      const chunks: Array<Buffer> = []
      let length = 0
      const done = () => {
        clearTimeout(timer)
        const text = Buffer.concat(chunks).subarray(0, shownBytes).toString("utf8")
        resume(Effect.succeed({ status: response.statusCode ?? 0, text }))
      }
      const cut = () => {
        done()
        sent.destroy()
      }
      const timer = setTimeout(cut, Math.max(0, deadline - performance.now()))
      response.on("data", (chunk: Buffer) => {
        if (length < shownBytes) chunks.push(chunk)
        length += chunk.length
        if (length >= maxBytes) cut()
      })
      response.on("close", done)
      response.on("error", done)
    })
    sent.end(bytes)
    return Effect.sync(() => void sent.destroy())
  })

const isReset = (error: Error) => "code" in error && ["ECONNRESET", "EPIPE"].includes(String(error.code))
