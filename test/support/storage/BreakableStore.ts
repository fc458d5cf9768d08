import { Effect } from "effect"
import { createServer, type IncomingMessage, request } from "node:http"
import type { AddressInfo } from "node:net"
import { fauxqs, optionsFor } from "./S3Servers.ts"
import { type Fault, faults } from "./StubStore.ts"

/** A working store that fails for the requests for which `fault` returns a fault. */
export const breakableStore = Effect.gen(function* () {
  const { endpoint } = yield* fauxqs
  const store: { fault: (request: IncomingMessage) => Fault | undefined } = { fault: () => undefined }
  const server = createServer((incoming, response) => {
    const fault = store.fault(incoming)
    if (fault !== undefined) return void incoming.resume().on("end", () => void faults[fault](incoming, response, 0))
    const { headers, method, url } = incoming
    const outgoing = request(new URL(url!, endpoint), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    outgoing.on("error", () => response.destroy())
    incoming.pipe(outgoing)
  })
  yield* Effect.promise(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve)))
  yield* Effect.addFinalizer(() => Effect.sync(() => server.close().closeAllConnections()))
  return Object.assign(store, { options: optionsFor((server.address() as AddressInfo).port) })
})
