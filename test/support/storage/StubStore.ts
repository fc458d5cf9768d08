import { Effect } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { optionsFor } from "./S3Servers.ts"

const error = (code: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>No</Message></Error>`

const listing =
  "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken></ListBucketResult>"

const parts = (one: boolean) =>
  `<ListPartsResult><IsTruncated>false</IsTruncated>${one ? "<Part><PartNumber>1</PartNumber><ETag>a</ETag><Size>1</Size></Part>" : ""}</ListPartsResult>`

const half = (response: ServerResponse) =>
  response.writeHead(200, { etag: "a", "content-length": 1000 }).write(Buffer.alloc(500))

/** Ways in which a store can fail. */
export const faults = {
  "is overloaded": (_, response) => response.writeHead(503).end(error("SlowDown")),
  "has an internal error": (_, response) => response.writeHead(500).end(error("InternalError")),
  "fails without an error code": (_, response) => response.writeHead(502).end("<html>Bad gateway</html>"),
  "denies access": (_, response) => response.writeHead(403).end(error("AccessDenied")),
  "has the bucket in another region": (_, response) => response.writeHead(301).end(error("PermanentRedirect")),
  "rejects the region of the signature": (_, response) =>
    response.writeHead(400).end(error("AuthorizationHeaderMalformed")),
  "resets the connection": ({ socket }) => socket.resetAndDestroy(),
  "closes the connection": ({ socket }) => socket.end(),
  "never answers": () => {},
  "succeeds with an error inside": (_, response) => response.end(error("InternalError")),
  "succeeds with a web page": (_, response) =>
    response.setHeader("content-type", "text/html").end("<html>Hello</html>"),
  "succeeds with nothing": (_, response) => response.end(),
  "lists the same page forever": (_, response) => response.end(listing),
  "resets the connection in the middle": ({ socket }, response) => {
    half(response)
    setTimeout(() => socket.resetAndDestroy(), 20)
  },
  "closes the connection in the middle": ({ socket }, response) => {
    half(response)
    setTimeout(() => socket.end(), 20)
  },
  "stops in the middle": (_, response) => half(response),
  "has half of the object": (_, response) => response.setHeader("etag", "a").end(Buffer.alloc(500)),
  "ignores ranges": (_, response) => response.setHeader("etag", "a").end(Buffer.alloc(1000)),
  "sends another range": (_, response) =>
    response.writeHead(206, { etag: "a", "content-range": "bytes 0-9/1000" }).end(Buffer.alloc(10)),
  "sends less than the range": (_, response) =>
    response.writeHead(206, { etag: "a", "content-range": "bytes 5-6/1000" }).end(Buffer.alloc(2)),
  "has joined other parts": ({ method }, response) => {
    if (method === "POST") return response.writeHead(400).end(error("InvalidPart"))
    return method === "HEAD"
      ? response.writeHead(200, { etag: "a", "content-length": 1000 }).end()
      : response.end(parts(false))
  },
  "gets a part after the abort": ({ method }, response, requests) =>
    method === "DELETE" ? response.writeHead(204).end() : response.end(parts(requests < 3)),
  "gets parts after every abort": ({ method }, response) =>
    method === "DELETE" ? response.writeHead(204).end() : response.end(parts(true))
} satisfies Readonly<Record<string, (request: IncomingMessage, response: ServerResponse, requests: number) => unknown>>

export type Fault = keyof typeof faults

/** A store that fails in one way and counts its requests. */
export const failingStore = Effect.fnUntraced(function* (fault: Fault) {
  const seen = { requests: 0, closed: 0 }
  const server = createServer((request, response) => {
    seen.requests++
    request.socket.on("close", () => seen.closed++)
    request.resume().on("end", () => void faults[fault](request, response, seen.requests))
  })
  yield* Effect.promise(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve)))
  yield* Effect.addFinalizer(() => Effect.sync(() => server.close().closeAllConnections()))
  return { options: optionsFor((server.address() as AddressInfo).port), seen }
})
