import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http"
import { once } from "node:events"

/** A request that a receiver got. */
export interface Received {
  readonly at: number
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The parsed body. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the tests read members, and an assertion reports a missing one
  readonly json: any
}

/** Answers with a status. */
export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (_, response) =>
    void response.writeHead(code, headers).end("answer")

/** A receiver of webhooks on this machine. It answers 204 until `answer` is replaced. */
export const start = async () => {
  const received: Array<Received> = []
  let connections = 0
  let most = 0
  const receiver = {
    received,
    answer: status(204),
    url: "",
    /** The most requests that it had at the same time. */
    most: () => most,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
  const server = createServer((request, response) => {
    most = Math.max(most, ++connections)
    response.once("close", () => connections--)
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString()
      received.push({
        at: performance.now(),
        path: request.url ?? "",
        headers: request.headers,
        body,
        json: body === "" ? undefined : JSON.parse(body)
      })
      receiver.answer(request, response)
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  receiver.url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  return receiver
}

export type Receiver = Awaited<ReturnType<typeof start>>
