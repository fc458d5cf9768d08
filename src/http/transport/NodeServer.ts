import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { maxHeaderBytes } from "../../api/Limits.ts"
import { requestIdOf } from "./CurrentRequest.ts"
import {
  arrived,
  isNext,
  notServed,
  reject,
  rejectUnparsed,
  requestIdHeader,
  requestTimeout,
  responseTo,
  unknownExpectation
} from "./Rejections.ts"
import type { RouteTable } from "./RouteTable.ts"
import { type ReadLimits, resetSlowReaders } from "../streams/SlowReaders.ts"

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

/** The path and query of the target of a request, which is a whole URL behind some proxies. */
const pathOf = (target: string) => target.replace(/^https?:\/\/[^/?]*/i, "")

/** Limits the time of bodies. The limit of Node is one for all requests, and too short for the part of an upload. */
const limitBody =
  ({ bodyMillis, limitsOf }: Options) =>
  (request: IncomingMessage, response: ServerResponse) => {
    const { headers, method = "", socket, url = "" } = request
    const hasBody = headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"
    if (!hasBody) return
    if (limitsOf(method, pathOf(url)).hasSlowBody) {
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
      // It was rejected, and the client does not send the rest.
      if (response.writableFinished) return void socket.destroy()
      // An earlier request of the connection is being answered.
      if (response.socket === null && !response.writableEnded) return void timer.refresh()
      if (!response.writableEnded) lateRequests.add(request)
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
    // The answer to the first one ends a connection.
    for (const request of requests) if (isNext(request)) reject(error, request.socket, request)
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
  server.on("clientError", rejectUnparsed)
  server.on("checkExpectation", arrived)
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    const { body, headers, status } = responseTo(unknownExpectation, request)
    response.writeHead(status, headers).end(body)
  })
  const silent = new Set<Socket>()
  const speaks = (request: IncomingMessage) => {
    silent.delete(request.socket)
    arrived(request)
  }
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
  // A request of a connection that was just accepted may not have been read yet.
  options.onDrain(() => void setTimeout(() => silent.forEach((socket) => socket.destroy()), 500).unref())
  answerUpgrades(server)
  holdUntilServed(server, options)
  return server
}
