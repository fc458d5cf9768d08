import { once } from "node:events"
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

interface Backend {
  readonly port: number
  ready: boolean
  readonly agent: Agent
}

/** Milliseconds between readiness checks of a node. */
const interval = 100

/**
 * A load balancer in front of the nodes. It distributes requests over the nodes whose `/readyz` succeeds, keeps its
 * connections open, and tries another node only when it could not connect.
 */
export const start = async (ports: ReadonlyArray<number>) => {
  const backends: ReadonlyArray<Backend> = ports.map((port) => ({
    port,
    ready: false,
    agent: new Agent({ keepAlive: true, maxSockets: 32 })
  }))
  let turn = 0
  const closing = new AbortController()
  let refused = 0

  const watch = async (backend: Backend) => {
    while (!closing.signal.aborted) {
      backend.ready = await fetch(`http://127.0.0.1:${backend.port}/readyz`, { headers: { connection: "close" } }).then(
        async (response) => (await response.arrayBuffer(), response.status === 200),
        () => false
      )
      await sleep(interval)
    }
  }
  const watching = backends.map(watch)

  const forward = (
    incoming: IncomingMessage,
    body: Buffer,
    outgoing: ServerResponse,
    tried: ReadonlyArray<Backend>
  ) => {
    const open = backends.filter((backend) => backend.ready && !tried.includes(backend))
    const backend = open[turn++ % open.length]
    if (backend === undefined) return outgoing.writeHead(502).end()
    const { connection: _, ...headers } = incoming.headers
    const sent = request(
      { port: backend.port, method: incoming.method, path: incoming.url, headers, agent: backend.agent },
      (answer) => {
        const { connection: _, "keep-alive": __, ...rest } = answer.headers
        outgoing.writeHead(answer.statusCode!, rest)
        answer.pipe(outgoing)
      }
    )
    sent.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") {
        refused++
        forward(incoming, body, outgoing, [...tried, backend])
      } else if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(502, { "x-reason": String(error.code) }).end()
    })
    return sent.end(body)
  }

  const server = createServer(async (incoming, outgoing) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    forward(incoming, Buffer.concat(chunks), outgoing, [])
  }).listen(0, "127.0.0.1")
  await once(server, "listening")

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isReady: (port: number) => backends.find((backend) => backend.port === port)?.ready === true,
    /** The number of requests sent to the other node because a connection was refused. */
    refused: () => refused,
    [Symbol.asyncDispose]: async () => {
      closing.abort()
      server.closeAllConnections()
      server.close()
      await Promise.all(watching)
      for (const { agent } of backends) agent.destroy()
    }
  }
}
