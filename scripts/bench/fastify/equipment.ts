import etag from "@fastify/etag"
import underPressure from "@fastify/under-pressure"
import type { FastifyInstance } from "fastify"
import metrics from "fastify-metrics"
import { randomUUID } from "node:crypto"

const maxInFlight = 512

/** Options of Fastify: ids of requests, lines of log on standard output, and limits on time. */
export const options = {
  logger: { level: "info" },
  disableRequestLogging: true,
  genReqId: () => randomUUID(),
  requestTimeout: 30_000,
  handlerTimeout: 30_000
}

/** What a service in production has around its routes, from plugins that most of them use: as Waypost, but for its errors. */
export const equip = async (app: FastifyInstance) => {
  let inFlight = 0
  await app.register(etag, { weak: false })
  await app.register(underPressure, { maxEventLoopDelay: 5000, message: "Busy", retryAfter: 1 })
  await app.register(metrics.default, { endpoint: "/metrics" })
  app.addHook("onRequest", async (request, reply) => {
    void reply.headers({
      "x-request-id": request.id,
      "cache-control": "private, no-cache",
      "x-content-type-options": "nosniff"
    })
    // Also when the client has gone, for which Fastify has no response.
    reply.raw.once("close", () => inFlight--)
    if (++inFlight > maxInFlight)
      await reply.code(503).header("retry-after", "1").send({ _tag: "ServiceUnavailableError" })
  })
  app.addHook("onResponse", async (request, reply) => {
    if (request.method === "GET") return
    const { method, url } = request
    request.log.info({ method, url, status: reply.statusCode, milliseconds: reply.elapsedTime }, "write")
  })
}
