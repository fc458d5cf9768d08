import { once } from "node:events"
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/**
 * What happens to a request: it is passed on; it gets nowhere; it arrives and its answer gets lost; its connection breaks;
 * or it gets an answer that is not the service's.
 */
type Fate =
  | "pass"
  | "hang"
  | "swallow"
  | "reset"
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }

/** A request as it came by. */
export interface Seen {
  readonly method: string
  readonly path: string
}

/** Whether a request brings a part; its address is no operation of the API. */
export const isPart = ({ method, path }: Seen) => method === "PUT" && !path.startsWith("/v1/")

/** Stands between clients and the service at `target`, counts, and lets a test decide what becomes of each request. */
export const start = async (target: string) => {
  let fate: (seen: Seen) => Fate = () => "pass"
  const answered: Array<Seen> = []
  const waiting = new Set<() => void>()

  const pass = (seen: Seen, incoming: IncomingMessage, outgoing: ServerResponse, swallow: boolean) => {
    const onward = request(`${target}${seen.path}`, { method: seen.method, headers: incoming.headers }, (answer) => {
      answered.push(seen)
      for (const look of waiting) look()
      if (swallow) return answer.resume()
      outgoing.writeHead(answer.statusCode!, answer.headers)
      return answer.pipe(outgoing)
    })
    onward.on("error", () => outgoing.destroy())
    incoming.pipe(onward)
  }

  const server = createServer((incoming, outgoing) => {
    const seen = { method: incoming.method!, path: incoming.url! }
    const chosen = fate(seen)
    if (chosen === "hang") return incoming.resume()
    if (chosen === "reset") return outgoing.destroy()
    if (typeof chosen === "string") return pass(seen, incoming, outgoing, chosen === "swallow")
    incoming.resume()
    return outgoing.writeHead(chosen.status, chosen.headers).end("{}")
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** What the service has answered since the last `reset`. */
    answered,
    decide: (decide: (seen: Seen) => Fate) => (fate = decide),
    reset: () => {
      fate = () => "pass"
      answered.length = 0
    },
    /** Waits until as many requests of a kind have been answered. */
    until: (count: number, kind: (seen: Seen) => boolean) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (answered.filter(kind).length < count) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
