import { SecureRandom } from "effect/crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"

/**
 * The server below Effect. What its parser refuses never becomes a request, so those answers are written here, in the
 * same shape as all others.
 */
const headers = () =>
  `X-Request-Id: ${SecureRandom.uuidV4Unsafe()}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n`

const answer = (status: number, tag: string, message: string): string => {
  const body = JSON.stringify({ _tag: tag, message, ...(tag === "InvalidRequestError" ? { issues: [] } : {}) })
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nConnection: close\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n${headers()}\r\n${body}`
  )
}

const refusals: Readonly<Record<string, readonly [status: number, tag: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "HeadersTooLargeError", "The request line and headers have more than 16 KiB"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "RequestTimeoutError", "The request did not arrive in time"]
}

const malformed = [400, "InvalidRequestError", "The request is not well-formed HTTP"] as const

/** The socket of a response that is being written; a second answer would land in the middle of it. */
const hasAnswer = (socket: Socket & { readonly _httpMessage?: { readonly headersSent: boolean } }) =>
  socket._httpMessage?.headersSent === true

const refuse = (error: NodeJS.ErrnoException, socket: Socket) => {
  if (error.code === "ECONNRESET" || !socket.writable || hasAnswer(socket)) return socket.destroy()
  socket.end(answer(...(refusals[error.code ?? ""] ?? malformed)))
  return setTimeout(() => socket.destroy(), 500).unref()
}

/**
 * Node's own limit is one for all requests, and a part of an upload takes as long as the client's line needs. So Node
 * only limits the headers, and the bodies of all other requests are limited here.
 */
const limitBody = (bodyTimeout: number) => (request: IncomingMessage, response: ServerResponse) => {
  const { headers, socket, url } = request
  const hasBody = headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"
  if (!hasBody) return
  if (url?.startsWith("/uploads/") === true) {
    // Nobody reads a part that was refused; whoever goes on sending it would hold the connection for ever.
    response.once("finish", () => {
      if (!request.complete) setTimeout(() => request.complete || socket.destroy(), bodyTimeout).unref()
    })
    return
  }
  const timer = setTimeout(() => {
    if (!request.complete) refuse(Object.assign(new Error("The body is late"), { code: bodyLate }), socket)
  }, bodyTimeout)
  const done = () => clearTimeout(timer)
  request.once("end", done)
  request.once("close", done)
}

const bodyLate = "ERR_HTTP_REQUEST_TIMEOUT"

/**
 * The server listens before the service is ready, because answers contain the address it listens on. What comes in until
 * then waits here; without a listener Node would never answer it.
 */
const holdUntilServed = (server: Server) => {
  const held: Array<readonly [IncomingMessage, ServerResponse]> = []
  const hold = (...exchange: readonly [IncomingMessage, ServerResponse]) => held.push(exchange)
  server.on("request", hold)
  server.on("newListener", (event, listener) => {
    if (event !== "request") return
    server.off("request", hold)
    for (const [request, response] of held.splice(0)) listener(request, response)
  })
}

/**
 * A server with limits on time and size, which stay below what a handler may take.
 *
 * Once it stops, Node no longer looks for connections that never sent a request, and would wait for them: they are
 * closed here. Those with a request in flight are closed by their answer.
 */
export const make = (onDrain: (run: () => void) => void, bodyTimeout: number): Server => {
  const server = createServer({
    headersTimeout: 5000,
    requestTimeout: 0,
    connectionsCheckingInterval: 250,
    maxHeaderSize: 16 * 1024,
    keepAliveTimeout: 5000,
    // Its refusal would have no body; Transport refuses the same.
    requireHostHeader: false,
    // Node would keep the first of two Authorization headers; joined, they are no key at all.
    joinDuplicateHeaders: true
  })
  server.maxConnections = 10_000
  server.on("clientError", refuse)
  server.on("checkExpectation", (_request: IncomingMessage, response) => {
    response.socket?.end(answer(400, "InvalidRequestError", "Only Expect: 100-continue is understood"))
  })
  const silent = new Set<Socket>()
  const speaks = ({ socket }: IncomingMessage) => silent.delete(socket)
  server.on("connection", (socket: Socket) => {
    silent.add(socket)
    socket.once("close", () => silent.delete(socket))
  })
  server.on("request", speaks)
  server.on("request", limitBody(bodyTimeout))
  server.on("checkContinue", speaks)
  server.on("checkContinue", limitBody(bodyTimeout))
  onDrain(() => silent.forEach((socket) => socket.destroy()))
  holdUntilServed(server)
  return server
}
