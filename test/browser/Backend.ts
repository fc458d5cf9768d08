import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { json } from "node:stream/consumers"
import { uploadPage } from "./UploadPage.ts"

/** The server of a customer on another origin: it serves the upload page and holds the API key. */
export const serve = async (service: string, key: string) => {
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${service}${path}`, {
      method,
      headers: { authorization: key, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    // oxlint-disable-next-line typescript/no-explicit-any -- the tests look inside
    return { status: response.status, body: (await response.json()) as any }
  }

  const answers: Readonly<Record<string, (body: unknown) => ReturnType<typeof call>>> = {
    "/begin": (body) => call("POST", "/v1/uploads/init-multi-part", body),
    "/complete": async (body) => {
      const completed = await call("PUT", "/v1/uploads/complete-multi-part", body)
      if (completed.status !== 200) return completed
      const created = await call("POST", "/v1/assets", { fileUuid: completed.body.data.fileUuid })
      return created.status === 201 ? call("GET", `/v1/assets/${created.body.data.uuid}`) : created
    }
  }

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const answer = answers[request.url ?? ""]
    if (answer === undefined) return response.writeHead(200, { "content-type": "text/html" }).end(uploadPage)
    const { body, status } = await answer(await json(request))
    return response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) =>
      response.writeHead(500, { "content-type": "application/json" }).end(JSON.stringify({ message: String(error) }))
    )
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const stop = () =>
    new Promise((resolve) => {
      server.close(resolve)
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
}
