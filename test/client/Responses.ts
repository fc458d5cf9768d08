import { once } from "node:events"
import { createServer } from "node:http"

interface Received {
  readonly method: string
  readonly url: string
  readonly key: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
}

/** Status, body, headers. A body that is text is sent unchanged. */
export type Response = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>]

/** An HTTP server that returns the given responses in order, the last one repeatedly, and records the requests. */
export const serverWith = async (responses: ReadonlyArray<Response>) => {
  const requests: Array<Received> = []
  const server = createServer((request, response) => {
    const [status, body, headers] = responses[Math.min(requests.length, responses.length - 1)]!
    requests.push({
      method: request.method ?? "",
      url: request.url ?? "",
      key: String(request.headers["authorization"]),
      headers: request.headers
    })
    request.resume()
    response.writeHead(status, { "content-type": "application/json", ...headers })
    response.end(typeof body === "string" ? body : JSON.stringify(body))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { requests, url: `http://127.0.0.1:${port}`, close: () => server.close() }
}
