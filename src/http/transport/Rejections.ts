import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import { maxHeaderBytes, maxPathBytes, maxQueryBytes } from "../../api/Limits.ts"
import { requestIdOf } from "./CurrentRequest.ts"

export const requestIdHeader = "x-request-id"

/**
 * What the parser of the server rejects never becomes a request, so those responses are written here, in the same shape as
 * all others.
 */
export const responseTo = ([status, tag, message]: ErrorAnswer, request?: IncomingMessage) => {
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

export const requestTimeout = "ERR_HTTP_REQUEST_TIMEOUT"
export const notServed = "NOT_SERVED"

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
export const unknownExpectation: ErrorAnswer = [400, "InvalidRequestError", "The Expect header takes 100-continue only"]
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

/** A connection, with the answer that is being written to it or is the next one to be. */
type Connection = Socket & { readonly _httpMessage?: ServerResponse | null }

/** Whether the answer to a request is the next one of its connection. */
export const isNext = (request: IncomingMessage) => (request.socket as Connection)._httpMessage?.req === request

/** The last request of each connection. */
const last = new WeakMap<Socket, IncomingMessage>()

/** Notes a request whose headers have arrived. */
export const arrived = (request: IncomingMessage) => void last.set(request.socket, request)

/**
 * Rejects what the parser of the server does not accept. Headers that have arrived while the process was busy are not late: they are read
 * first.
 */
export const rejectUnparsed = (error: ParserError, socket: Socket) => {
  if (error.code !== requestTimeout) return reject(error, socket)
  const before = last.get(socket)
  setImmediate(() => {
    if (last.get(socket) === before) reject(error, socket)
  })
}

/** The bytes that connections had sent when a rejection began to wait for the answer before it. */
const waiting = new WeakMap<Socket, number>()

/** How many bytes a client may send after those that are rejected, while the answer before is on its way. */
const maxBytesBehind = 64 * 1024

const close = (socket: Socket, answer = "") => {
  socket.end(answer)
  setTimeout(() => socket.destroy(), 500).unref()
}

/**
 * Ends a connection with an answer to the request that is rejected: the given one, or that which did not arrive whole. The
 * requests before it get their answers first.
 */
export const reject = (error: ParserError, socket: Connection, request?: IncomingMessage) => {
  const { _httpMessage: answer, writable } = socket
  if (error.code === "ECONNRESET" || !writable) return void socket.destroy()
  if (answer?.req.complete === true && answer.req !== request) {
    // The client has hung up within a request.
    if (error.code === "HPE_INVALID_EOF_STATE") return void socket.destroy()
    const sent = waiting.get(socket)
    if (sent !== undefined) return void (socket.bytesRead - sent > maxBytesBehind && socket.destroy())
    waiting.set(socket, socket.bytesRead)
    const before = last.get(socket)
    answer.once("finish", () => {
      waiting.delete(socket)
      // The headers of a request that were late have arrived since.
      if (error.code === requestTimeout && request === undefined && last.get(socket) !== before) return
      reject(error, socket, request)
    })
    return
  }
  // The request has an answer of its own, whose rest is on its way.
  if (answer?.writableEnded === true) return void answer.once("finish", () => close(socket))
  // A second answer would land in the middle of the one that is being written.
  if (answer?.headersSent === true) return void socket.destroy()
  close(socket, bytesOf(responseTo(answerTo(error), request)))
}
