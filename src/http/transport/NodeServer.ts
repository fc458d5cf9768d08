import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import { maxHeaderBytes, maxPathBytes, maxQueryBytes } from "../../api/Limits.ts"
import { requestIdOf } from "./CurrentRequest.ts"
import type { RouteTable } from "./RouteTable.ts"
import { type ReadLimits, resetSlowReaders } from "./SlowReaders.ts"

const requestIdHeader = "x-request-id"

/**
 * The server below Effect. What its parser rejects never becomes a request, so those responses are written here, in the
 * same shape as all others.
 */
const responseTo = ([status, tag, message]: ErrorAnswer, request?: IncomingMessage) => {
  const requestId = requestIdOf(request?.headers[requestIdHeader])
  const issues = tag === "InvalidRequestError" ? { issues: [] } : {}
  const body = JSON.stringify({ _tag: tag, message, ...issues, requestId })
  const headers: Readonly<Record<string, string>> = {
    "Content-Type": "application/json",
    Connection: "close",
    "Content-Length": String(Buffer.byteLength(body)),
    ...(status === 503 ? { "Retry-After": "1" } : {}),
    "X-Request-Id": requestId,
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store"
  }
  return { status, headers, body }
}

/** The bytes of the response to what has no response of Node. */
const bytesOf = ({ body, headers, status }: ReturnType<typeof responseTo>) => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`
}

const requestTimeout = "ERR_HTTP_REQUEST_TIMEOUT"
const notServed = "NOT_SERVED"

/** What the parser reports about a request that it rejects: the last packet, and how much of it was parsed. */
interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer
  readonly bytesParsed?: number
}

const lineEnd = 10

/**
 * Whether the request line exceeded the limit on the request line and headers together. The parser keeps no state that
 * says so, but the line that it was in does: it begins with a method, or ends with the version. A line that began in an
 * earlier packet and continues after this one counts as a header.
 */
export const isInRequestLine = ({ bytesParsed = 0, rawPacket }: ParserError): boolean => {
  if (rawPacket === undefined) return false
  const start = bytesParsed === 0 ? 0 : rawPacket.lastIndexOf(lineEnd, bytesParsed - 1) + 1
  const end = rawPacket.indexOf(lineEnd, bytesParsed)
  const line = rawPacket.toString("latin1", start, end === -1 ? rawPacket.length : end)
  return /^[A-Z]+ \/| HTTP\/1\.\d\r$/.test(line)
}

type ErrorAnswer = readonly [status: number, tag: string, message: string]

const kibibytes = (bytes: number) => `${bytes / 1024} KiB`

const malformed: ErrorAnswer = [400, "InvalidRequestError", "The request is not well-formed HTTP"]
const lineTooLong: ErrorAnswer = [
  414,
  "UriTooLongError",
  `A path has at most ${kibibytes(maxPathBytes)} and a query at most ${kibibytes(maxQueryBytes)}`
]
const headersTooLarge: ErrorAnswer = [
  431,
  "HeadersTooLargeError",
  `The request line and headers have more than ${kibibytes(maxHeaderBytes)}`
]
const unknownExpectation: ErrorAnswer = [400, "InvalidRequestError", "The Expect header takes 100-continue only"]
const late: ErrorAnswer = [408, "RequestTimeoutError", "The request did not arrive in time"]
const stopping: ErrorAnswer = [503, "ServiceUnavailableError", "The service is stopping; try again"]

const answerTo = (error: ParserError): ErrorAnswer => {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return isInRequestLine(error) ? lineTooLong : headersTooLarge
    case requestTimeout:
      return late
    case notServed:
      return stopping
    default:
      return malformed
  }
}

/** Whether a response is being written to the socket; a second one would land in the middle of it. */
const hasAnswer = (socket: Socket & { readonly _httpMessage?: { readonly headersSent: boolean } }) =>
  socket._httpMessage?.headersSent === true

const reject = (error: ParserError, socket: Socket, request?: IncomingMessage) => {
  if (error.code === "ECONNRESET" || !socket.writable || hasAnswer(socket)) return socket.destroy()
  socket.end(bytesOf(responseTo(answerTo(error), request)))
  return setTimeout(() => socket.destroy(), 500).unref()
}

interface Options {
  /** How long the body of a request may take to arrive. */
  readonly bodyMillis: number
  readonly readLimits: ReadLimits
  readonly limitsOf: RouteTable["Service"]["limitsOf"]
  readonly onDrain: (run: () => void) => void
}

const lateRequests = new WeakSet<object>()

/** Whether the body of a request did not arrive in time. Its 408 is sent already. */
export const isLate = (request: object): boolean => lateRequests.has(request)

/** Limits the time of bodies. The limit of Node is one for all requests, and too short for the part of an upload. */
const limitBody =
  ({ bodyMillis, limitsOf }: Options) =>
  (request: IncomingMessage, response: ServerResponse) => {
    const { headers, method = "", socket, url = "" } = request
    const hasBody = headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"
    if (!hasBody) return
    if (limitsOf(method, url).hasSlowBody) {
      // The rest of a rejected body is not read; a client that keeps sending it must not hold the connection for ever.
      response.once("finish", () => {
        if (!request.complete) setTimeout(() => request.complete || socket.destroy(), bodyMillis).unref()
      })
      return
    }
    // Transport takes the id from here, so that its log has that of the 408.
    headers[requestIdHeader] = requestIdOf(headers[requestIdHeader])
    const timer = setTimeout(() => {
      if (request.complete) return
      lateRequests.add(request)
      reject(Object.assign(new Error("The body is late"), { code: requestTimeout }), socket, request)
    }, bodyMillis)
    const done = () => clearTimeout(timer)
    request.once("end", done)
    request.once("close", done)
  }

/**
 * Answers a request to upgrade as any other one. Node would take the connection of such a request from its parser for a listener,
 * which Effect adds, and no limit of a server holds for such a connection.
 */
const answerUpgrades = (server: Server) =>
  server.on("newListener", (event) => {
    // The event comes before the listener is added.
    if (event === "upgrade") queueMicrotask(() => server.removeAllListeners("upgrade"))
  })

/**
 * The server listens before the service is ready, because URLs in responses contain the address it listens on. Requests
 * that arrive until then are held; without a listener Node would never answer them. A start that ends before that rejects
 * them, because a server that closes waits for them.
 */
const holdUntilServed = (server: Server, { onDrain }: Options) => {
  let hasEnded = false
  const rejectAll = (requests: ReadonlyArray<IncomingMessage>) => {
    const error = Object.assign(new Error("The start has ended"), { code: notServed })
    for (const socket of new Set(requests.map(({ socket }) => socket))) reject(error, socket)
  }
  for (const name of ["request", "checkContinue"]) {
    const held: Array<readonly [IncomingMessage, ServerResponse]> = []
    const hold = (...exchange: readonly [IncomingMessage, ServerResponse]) =>
      hasEnded ? rejectAll([exchange[0]]) : held.push(exchange)
    server.on(name, hold)
    onDrain(() => {
      hasEnded = true
      rejectAll(held.splice(0).map(([request]) => request))
    })
    server.on("newListener", (event, listener) => {
      if (event !== name) return
      server.off(name, hold)
      // What a listener takes until the response is closed, it would keep for ever if the client has hung up before.
      for (const [request, response] of held.splice(0)) if (!response.destroyed) listener(request, response)
    })
  }
}

/**
 * A server with limits on time and size, which are below those of a handler.
 *
 * When Node stops, it waits for connections that never sent a request; they are closed here. Those with a request in
 * flight are closed by its response.
 */
export const make = (options: Options): Server => {
  const server = createServer({
    headersTimeout: 5000,
    requestTimeout: 0,
    connectionsCheckingInterval: 250,
    maxHeaderSize: maxHeaderBytes,
    keepAliveTimeout: 5000,
    // The 400 of Node has no body; Transport answers the same with one.
    requireHostHeader: false,
    // Node would keep the first of two Authorization headers; joined, they are no valid key.
    joinDuplicateHeaders: true
  })
  server.maxConnections = 10_000
  server.on("clientError", reject)
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    const { body, headers, status } = responseTo(unknownExpectation, request)
    response.writeHead(status, headers).end(body)
  })
  const silent = new Set<Socket>()
  const speaks = ({ socket }: IncomingMessage) => silent.delete(socket)
  server.on("connection", (socket: Socket) => {
    silent.add(socket)
    socket.once("close", () => silent.delete(socket))
  })
  const limit = limitBody(options)
  server.on("request", speaks)
  server.on("request", limit)
  server.on("checkContinue", speaks)
  server.on("checkContinue", limit)
  resetSlowReaders(server, options.readLimits)
  options.onDrain(() => silent.forEach((socket) => socket.destroy()))
  answerUpgrades(server)
  holdUntilServed(server, options)
  return server
}
