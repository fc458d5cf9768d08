import { Console, Effect, Option, Predicate, Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { type Json, memberOf, objectsIn } from "../../domain/schema/Json.ts"
import * as Connection from "../Connection.ts"
import { CommandError } from "../Failures.ts"

/** An answer of the service, or a body for it. */
export interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  readonly path: string
  readonly query?: ReadonlyArray<readonly [string, string]>
  readonly body?: unknown
}

const messageOf = (body: unknown, status: number) =>
  Predicate.isObject(body) && Predicate.isString(body["_tag"]) && Predicate.isString(body["message"])
    ? `${body["_tag"]}: ${body["message"]}`
    : `The service answered with ${status}`

/** Calls the service at `--url` with the key of `--key`; fails with the error of the answer. */
export const call =
  (input: Connection.Input) =>
  ({ body, method, path, query = [] }: Call) =>
    Effect.gen(function* () {
      const { apiKey, baseUrl } = yield* Connection.resolve(input)
      const request = HttpClientRequest.make(method)(`${baseUrl}${path}`).pipe(
        HttpClientRequest.setHeader("authorization", Redacted.value(apiKey)),
        HttpClientRequest.setUrlParams(query),
        body === undefined ? (request) => request : HttpClientRequest.bodyJsonUnsafe(body)
      )
      const response = yield* HttpClient.execute(request)
      const answer = yield* Effect.orElseSucceed(response.json, () => undefined)
      const warning = /^299 \S+ "(.*)"$/.exec(response.headers["warning"] ?? "")?.[1]
      if (warning !== undefined) yield* Console.error(warning)
      if (response.status >= 300 || !Predicate.isObject(answer)) {
        return yield* new CommandError({ message: messageOf(answer, response.status) })
      }
      return answer
    })

/** The records of a page. */
export const recordsOf = ({ data }: Json): ReadonlyArray<Json> => objectsIn(data)

/** The number of records in a list. */
export const totalOf = (answer: Json): number => Number(memberOf(answer, "pagination", "total") ?? 0)

/** Of several names, the first that is one of the fields. */
export const naturalKey = (fields: ReadonlyArray<string>): Option.Option<string> =>
  Option.fromUndefinedOr(["identifier", "username", "slug", "key", "name"].find((name) => fields.includes(name)))
