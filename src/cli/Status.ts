import { Console, Effect, Option, Predicate, Redacted } from "effect"
import { Command } from "effect/cli"
import { HttpClient, HttpClientRequest } from "effect/http"
import { memberOf } from "../domain/schema/Json.ts"
import { json } from "./CommonFlags.ts"
import * as Connection from "./Connection.ts"
import { CommandError } from "./Failures.ts"

const get = Effect.fnUntraced(function* (url: string, key: Option.Option<Redacted.Redacted> = Option.none()) {
  const request = HttpClientRequest.get(url)
  const response = yield* HttpClient.execute(
    Option.match(key, {
      onNone: () => request,
      onSome: (key) => HttpClientRequest.setHeader(request, "authorization", Redacted.value(key))
    })
  )
  return { status: response.status, body: yield* Effect.orElseSucceed(response.json, () => undefined) }
})

/** What is known of the key: its name and what it may do, or why it is not accepted. `accepted` is absent if that is not known. */
const keyStatus = Effect.fnUntraced(function* (baseUrl: string, key: Connection.Input["key"]) {
  if (Option.isNone(key)) return { accepted: false, text: "none; set WAYPOST_API_KEY" }
  const { body, status } = yield* get(`${baseUrl}/v1/me`, key)
  const message = memberOf(body, "message")
  const answer = Predicate.isString(message) ? message : `status ${status}`
  if (status === 401) return { accepted: false, text: `not accepted: ${answer}` }
  const name = memberOf(body, "data", "name")
  if (!Predicate.isString(name)) return { text: `unknown: ${answer}` }
  const permissions = memberOf(body, "data", "permissions")
  const expires = memberOf(body, "data", "expiresAt")
  const count = Array.isArray(permissions) ? permissions.length : 0
  return {
    accepted: true,
    text:
      `"${name}" (${String(memberOf(body, "data", "prefix"))}), ${count} permissions, ` +
      (Predicate.isString(expires) ? `expires ${expires}` : "does not expire")
  }
})

const status = Effect.fnUntraced(function* ({ json, key, url }: Connection.Input & { readonly json: boolean }) {
  const baseUrl = yield* Connection.baseUrlOf(url)
  const given = yield* Connection.keyOf(key)
  const { body, status } = yield* get(`${baseUrl}/readyz`)
  const state = memberOf(body, "status")
  if (state !== "ready" && state !== "unavailable") {
    return yield* new CommandError({
      message:
        `What answers at ${baseUrl} is not Waypost (status ${status}). Correct the address in --url or WAYPOST_URL, ` +
        "or check the proxy before the service"
    })
  }
  const isReady = state === "ready"
  const ownKey = yield* keyStatus(baseUrl, given)
  yield* Console.log(
    json
      ? JSON.stringify({ url: baseUrl, ready: isReady, checks: body, key: ownKey })
      : [
          `Service  ${baseUrl}`,
          `State    ${isReady ? "ready" : `not ready: ${JSON.stringify(body)}`}`,
          `Key      ${ownKey.text}`
        ].join("\n")
  )
  if (!isReady) return yield* new CommandError({ message: "The service is not ready" })
  if (ownKey.accepted === true || Option.isNone(given)) return
  return yield* new CommandError({
    message:
      ownKey.accepted === false
        ? "The service does not accept the key"
        : "The service did not check the key. Run the command again"
  })
})

/** `waypost status` */
export const command = Command.make("status", { json, ...Connection.flags }, status).pipe(
  Command.withExamples([{ command: "waypost status --url https://waypost.example.com" }]),
  Command.provide(Connection.http)
)
