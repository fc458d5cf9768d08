import { once } from "node:events"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"

interface Received {
  readonly method: string
  readonly url: string
  readonly key: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
}

/** Status, body, headers. A body that is text is sent unchanged. */
export type Response = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>]

/** An HTTP server that returns the given responses in order, the last one repeatedly, and records the requests. */
export const serverWith = async (responses: ReadonlyArray<Response>) => {
  const requests: Array<Received> = []
  const server = createServer(async (request, response) => {
    const [status, body, headers] = responses[Math.min(requests.length, responses.length - 1)]!
    const received = {
      method: request.method ?? "",
      url: request.url ?? "",
      key: String(request.headers["authorization"]),
      headers: request.headers
    }
    requests.push({ ...received, body: await text(request) })
    response.writeHead(status, { "content-type": "application/json", ...headers })
    response.end(typeof body === "string" ? body : JSON.stringify(body))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { requests, url: `http://127.0.0.1:${port}`, close: () => server.close() }
}
