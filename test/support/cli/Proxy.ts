import { once } from "node:events"
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/**
 * The fate of a request: it is forwarded; it never reaches the service; its response is dropped; its connection is reset;
 * or the proxy responds itself.
 */
type Fate =
  | "pass"
  | "hang"
  | "swallow"
  | "reset"
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }

type Decide = (seen: Seen) => Fate | Promise<Fate>

/** A request that the proxy received. */
export interface Seen {
  readonly method: string
  readonly path: string
}

/** Whether a request uploads a part, whose URL is not an operation of the API. */
export const isPart = ({ method, path }: Seen) => method === "PUT" && !path.startsWith("/v1/")

/** A proxy for the service at `target` that records requests and lets a test decide the fate of each. */
export const start = async (target: string) => {
  let fate: Decide = () => "pass"
  const answered: Array<Seen> = []
  const waiting = new Set<() => void>()

  const pass = (seen: Seen, incoming: IncomingMessage, outgoing: ServerResponse, swallow: boolean) => {
    const onward = request(`${target}${seen.path}`, { method: seen.method, headers: incoming.headers }, (answer) => {
      answered.push(seen)
      for (const check of waiting) check()
      if (swallow) return answer.resume()
      outgoing.writeHead(answer.statusCode!, answer.headers)
      return answer.pipe(outgoing)
    })
    onward.on("error", () => outgoing.destroy())
    incoming.pipe(onward)
  }

  const server = createServer(async (incoming, outgoing) => {
    const seen = { method: incoming.method!, path: incoming.url! }
    const chosen = await fate(seen)
    if (chosen === "hang") return incoming.resume()
    if (chosen === "reset") return outgoing.destroy()
    if (typeof chosen === "string") return pass(seen, incoming, outgoing, chosen === "swallow")
    incoming.resume()
    return outgoing.writeHead(chosen.status, chosen.headers).end(chosen.body ?? "{}")
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Requests that the service has responded to since the last `reset`. */
    answered,
    decide: (decide: Decide) => (fate = decide),
    reset: () => {
      fate = () => "pass"
      answered.length = 0
    },
    /** Waits until the service has responded to `count` requests of a kind. */
    until: (count: number, kind: (seen: Seen) => boolean) =>
      new Promise<void>((resolve) => {
        const check = () => {
          if (answered.filter(kind).length < count) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      }),
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
