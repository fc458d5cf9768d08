import { Effect, Layer } from "effect"
import { MaxBulk } from "../../../src/http/transport/limits/Shares.ts"
import { checkAnswer, textOf } from "../answers.ts"
import { TestServer } from "../TestServer.ts"
import * as DatabaseProxy from "../wire/DatabaseProxy.ts"
import { type Answer, layerOn, Wire } from "../wire/Wire.ts"
import { operations } from "./Documented.ts"

/** Every response so far, as `operation status tag`. */
export const seen = new Set<string>()

/** Checks a response against the definition and records it. */
const note = (method: string, path: string, answer: Parameters<typeof checkAnswer>[2]) => {
  const operation = checkAnswer(method, new URL(path, "http://waypost.test"), answer)
  const tag = answer.text === undefined ? "" : JSON.parse(answer.text)._tag
  if (operation !== undefined) seen.add(`${operation} ${answer.status} ${tag}`)
}

/** The same for a response that was not received through `fetch`. */
export const checked = <E, R>(method: string, path: string, answer: Effect.Effect<Answer, E, R>) =>
  Effect.tap(answer, ({ headers, status, text }) =>
    Effect.sync(() =>
      note(method, path, { status, header: (name) => headers[name], text: text === "" ? undefined : text })
    )
  )

const make = Effect.gen(function* () {
  const { fullKey, key, port } = yield* Wire
  const send = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(new URL(path, `http://127.0.0.1:${port}`), init)
    const text = await textOf(response)
    const header = (name: string) => response.headers.get(name)
    note(init.method ?? "GET", new URL(response.url).pathname, { status: response.status, header, text })
    return text === undefined ? response : new Response(text, response)
  }
  return TestServer.of({ fetch: send, key, fullKey, client: () => Effect.die("No typed client over the wire") })
})

/** A `TestServer` that sends to the service over a socket. */
export const layer = (values: Readonly<Record<string, string>> = {}) =>
  Layer.effect(TestServer, make).pipe(
    Layer.provideMerge(layerOn(DatabaseProxy.sql, values)),
    // Requests that stall, or are large, hold their places while those of other operations are sent.
    Layer.provide(Layer.succeed(MaxBulk, operations.length))
  )
