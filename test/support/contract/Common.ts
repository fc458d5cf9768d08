import { Effect } from "effect"
import { type Answer, Wire } from "../wire/Wire.ts"
import { type Operation, operations } from "./Documented.ts"
import { checked } from "./OverWire.ts"
import { pathOf } from "./Provoking.ts"

const mebibyte = 1024 * 1024
const large = "a".repeat(mebibyte + 1)
/** A body that is larger than an operation takes. */
const tooLarge = ({ id }: Operation) =>
  id === "plans.create" ? "a".repeat(50 * mebibyte + 1) : id.endsWith(".bulk") ? "a".repeat(8 * mebibyte + 1) : large

/** The path of an operation, with the query that it requires. */
const targetOf = (operation: Operation) =>
  pathOf(operation, operation.id === "plans.create" ? { query: "?resource=locations" } : {})

type Provoked = Effect.Effect<Pick<Answer, "status" | "body">, never, Wire>

const ask = (operation: Operation, method: string, path: string, sent: Parameters<Wire["Service"]["send"]>[2] = {}) =>
  Effect.flatMap(Wire, ({ send }) => checked(operation.method, operation.path, send(method, path, sent)))

/** A request whose body stays incomplete. */
const stall = (operation: Operation): Provoked =>
  Effect.flatMap(Wire, ({ fullKey, raw }) =>
    checked(
      operation.method,
      operation.path,
      raw(
        `${operation.method} ${targetOf(operation)} HTTP/1.1\r\nHost: waypost.test\r\nAuthorization: ${fullKey}\r\n` +
          `Content-Type: application/json\r\nContent-Length: 100\r\n\r\n${operation.id === "plans.create" ? "[" : "{"}`
      )
    )
  )

const methods = ["PUT", "PATCH", "POST", "DELETE"]
const otherMethod = ({ path }: Operation) =>
  methods.find((method) => !operations.some((operation) => operation.path === path && operation.method === method))!

const withBody = ({ hasBody }: Operation) => hasBody
const any = () => true

/** How to provoke the common errors of the document, and on which operations that is possible. */
export const provocations: Readonly<
  Record<string, readonly [can: (operation: Operation) => boolean, provoke: (operation: Operation) => Provoked]>
> = {
  MethodNotAllowedError: [any, (operation) => ask(operation, otherMethod(operation), pathOf(operation, {}))],
  RequestTimeoutError: [withBody, stall],
  PayloadTooLargeError: [
    withBody,
    (operation) => ask(operation, operation.method, targetOf(operation), { body: tooLarge(operation) })
  ],
  UriTooLongError: [
    any,
    (operation) => ask(operation, operation.method, pathOf(operation, { query: `?${large.slice(0, 9000)}` }))
  ],
  UnsupportedMediaTypeError: [
    withBody,
    (operation) =>
      ask(operation, operation.method, targetOf(operation), { body: "{}", headers: { "content-type": "text/plain" } })
  ],
  HeadersTooLargeError: [
    any,
    (operation) =>
      ask(operation, operation.method, pathOf(operation, {}), { headers: { "x-large": large.slice(0, 17_000) } })
  ]
}
