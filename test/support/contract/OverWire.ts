import { Effect, Layer } from "effect"
import { checkAnswer } from "../answers.ts"
import { TestServer } from "../TestServer.ts"
import * as DatabaseProxy from "../wire/DatabaseProxy.ts"
import { type Answer, layerOn, Wire } from "../wire/Wire.ts"

/** Every response so far, as `operation status tag`. */
export const seen = new Set<string>()

/** Checks a response against the definition and records it. */
const note = async (method: string, path: string, response: Response) => {
  const operation = await checkAnswer(method, new URL(path, "http://waypost.test"), response.clone())
  const text = await response.text()
  if (operation !== undefined) seen.add(`${operation} ${response.status} ${text === "" ? "" : JSON.parse(text)._tag}`)
}

/** The same for a response that was not received through `fetch`. */
export const checked = <E, R>(method: string, path: string, answer: Effect.Effect<Answer, E, R>) =>
  Effect.tap(answer, ({ status, text }) =>
    Effect.promise(() => note(method, path, new Response(text === "" ? null : text, { status })))
  )

const make = Effect.gen(function* () {
  const { fullKey, key, port } = yield* Wire
  const send = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(new URL(path, `http://127.0.0.1:${port}`), init)
    await note(init.method ?? "GET", new URL(response.url).pathname, response.clone())
    return response
  }
  return TestServer.of({ fetch: send, key, fullKey, client: () => Effect.die("No typed client over the wire") })
})

/** A `TestServer` that sends to the service over a socket. */
export const layer = (values: Readonly<Record<string, string>> = {}) =>
  Layer.effect(TestServer, make).pipe(Layer.provideMerge(layerOn(DatabaseProxy.sql, values)))
