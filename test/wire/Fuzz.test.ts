import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import * as Permission from "../../src/domain/Permission.ts"
import * as Corpus from "./FuzzCorpus.ts"
import { type Answer, layer as listening, type Sent, Wire } from "./Wire.ts"

const seed = Number(process.env["FUZZ_SEED"] ?? 20_261_121)
const wanted = 4000
const seconds = 25
const batch = 50

interface Shot {
  readonly method: string
  readonly path: string
  readonly sent: Sent
}

const document = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8")) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: object }>>>>
}
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { responses }]) => ({
    method: method.toUpperCase(),
    path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}/?$`),
    statuses: Object.keys(responses).map(Number)
  }))
)

/** What any request can be answered with, documented once for the whole API. */
const transport: Readonly<Record<number, string>> = {
  400: "InvalidRequestError",
  404: "RouteNotFoundError",
  405: "MethodNotAllowedError",
  412: "PreconditionFailedError",
  413: "PayloadTooLargeError",
  414: "UriTooLongError",
  415: "UnsupportedMediaTypeError"
}

const pages = new Set(["/", "/docs", "/v1/openapi.json", "/healthz", "/readyz", "/metrics"])

/** What is wrong with an answer, if anything. */
const problemOf = ({ method, path }: Shot, { body, headers, status, text }: Answer): string | undefined => {
  const [route = ""] = path.split("?")
  if (status >= 500) return "the service failed"
  if (typeof headers["x-request-id"] !== "string") return "no request id"
  if (method === "HEAD" || status === 204 || status === 304) return text === "" ? undefined : "a body where none may be"
  if (pages.has(route) && status === 200) return undefined
  if (headers["content-type"] !== "application/json") return "not JSON by its type"
  if (typeof body?._tag !== "string") return "no _tag"
  if ((body._tag === "Success") !== (status >= 200 && status < 300)) return "the tag does not fit the status"
  if (body._tag !== "Success" && typeof body.message !== "string") return "no message"
  // 431 is the parser's: the request line and the headers together have more than 16 KiB.
  if (transport[status] === body._tag || status === 431) return undefined
  const declared = operations.find((operation) => operation.method === method && operation.path.test(route))
  return declared?.statuses.includes(status) === true ? undefined : "a status that is not declared"
}

layer(listening(), { excludeTestServices: true })("Whatever is sent", (it) => {
  it.effect(
    "the answer is a declared one in the envelope, and never a failure of the service",
    () =>
      Effect.gen(function* () {
        const { fullKey, key, send } = yield* Wire
        const random = Corpus.randomOf(seed)
        const below = (limit: number) => Math.floor(random() * limit)
        const chance = (probability: number) => random() < probability
        const pick = <A>(list: ReadonlyArray<A>) => list[below(list.length)]!
        const targets = yield* Corpus.targets(150, seed)
        // Keys that may be revoked, locations and products that may be deleted, but never the key that asks.
        const uuids: Array<string> = ["00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"]
        for (let index = 0; index < 10; index++) {
          const victim = yield* key([pick(Permission.all)])
          uuids.push((yield* send("GET", "/v1/me", { key: victim })).body.data.uuid)
          const body = JSON.stringify({ name: `Victim ${index}`, identifier: `victim-${index}` })
          uuids.push((yield* send("POST", "/v1/locations", { body })).body.data.uuid)
          const type = index % 2 === 0 ? "default" : "variantParent"
          const product = JSON.stringify({ name: "Victim", identifier: `victim-${index}`, type })
          uuids.push((yield* send("POST", "/v1/products", { body: product })).body.data.uuid)
        }

        const mutate = (text: string) => {
          const start = below(text.length + 1)
          const end = chance(0.5) ? start : Math.min(text.length, start + below(8))
          return text.slice(0, start) + (chance(0.8) ? pick(Corpus.tokens) : "") + text.slice(end)
        }
        const query = (names: ReadonlyArray<string>) =>
          Array.from({ length: below(4) }, () => {
            const name =
              chance(0.9) && names.length > 0 ? pick(names) : pick(["q", "limt", "__proto__", "filter[]", ""])
            const value = chance(0.3) ? mutate(pick(Corpus.values)) : pick(Corpus.values)
            return `${name}=${chance(0.9) ? encodeURIComponent(value.toWellFormed()) : value}`
          }).join("&")
        const bodyOf = (bodies: ReadonlyArray<string>): string | Uint8Array => {
          const body = chance(0.5) ? pick(bodies) : mutate(pick(bodies))
          if (chance(0.95)) return body
          const bytes = Buffer.from(body)
          if (bytes.length > 0) bytes[below(bytes.length)] = below(256)
          return bytes
        }
        /** Anything else node's client or its parser refuses; the parser has tests of its own. */
        const writable = (path: string) =>
          path.replaceAll(/[^\u0021-\u007e]/gu, (c) => encodeURIComponent(c.toWellFormed()))
        const make = (): Shot => {
          const target = pick(targets)
          const method = chance(0.95)
            ? target.method
            : pick(["GET", "HEAD", "PUT", "PATCH", "POST", "DELETE", "OPTIONS"])
          const plain = target.path.replace(":uuid", () => (chance(0.85) ? pick(uuids) : mutate(pick(uuids))))
          const search = query(target.query)
          const path = (chance(0.96) ? plain : `/${mutate(plain.slice(1))}`) + (search === "" ? "" : `?${search}`)
          const more = Object.fromEntries(
            Array.from({ length: chance(0.25) ? 1 + below(2) : 0 }, () => pick(Corpus.headers))
          )
          const withBody = target.bodies.length > 0 && method !== "GET" && method !== "HEAD"
          const sent = { headers: more, ...(withBody ? { body: bodyOf(target.bodies), chunked: chance(0.1) } : {}) }
          return { method, path: writable(path), sent }
        }

        /** The first request that showed each kind of problem. */
        const problems = new Map<string, string>()
        const seen = new Map<number, number>()
        const shoot = (shot: Shot) =>
          Effect.map(send(shot.method, shot.path, shot.sent), (answer) => {
            seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
            const problem = problemOf(shot, answer)
            if (problem === undefined || problems.has(problem)) return
            const asked = `${shot.method} ${shot.path} ${JSON.stringify(shot.sent)}`.slice(0, 1000)
            problems.set(problem, `${problem}: ${asked}\n  ${answer.status} ${answer.text.slice(0, 300)}`)
          })
        const end = performance.now() + seconds * 1000
        let count = 0
        for (; count < wanted && performance.now() < end; count += batch) {
          yield* Effect.forEach(Array.from({ length: batch }, make), shoot, { concurrency: 12, discard: true })
        }
        const statuses = [...seen].toSorted(([a], [b]) => a - b).map(([status, times]) => `${status}×${times}`)
        console.log(`Fuzz: seed ${seed}, ${count} requests, ${statuses.join(" ")}`)
        assert.deepStrictEqual([...problems.values()], [], `FUZZ_SEED=${seed}`)
        assert.isAtLeast(count, 2000)
        // It would prove little if everything were refused at the door.
        for (const status of [200, 201, 400, 404]) assert.isAtLeast(seen.get(status) ?? 0, 20, `${status}`)
        assert.strictEqual((yield* send("GET", "/v1/me", { key: fullKey })).status, 200)
      }),
    60_000
  )
})
