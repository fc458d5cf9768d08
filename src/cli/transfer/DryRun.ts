import { Effect, Predicate } from "effect"
import { FetchHttpClient, HttpClientError } from "effect/http"
import { memberOf } from "../../domain/schema/Json.ts"
import { validateOnly as preference } from "../../domain/write/SafeWrites.ts"
import type { Failure } from "../Failures.ts"
import { hashTable } from "../files/Duplicates.ts"
import type { Resource } from "./Resource.ts"
import type { Calls } from "./Upsert.ts"

/** A status that no operation declares, so that the client does not decode a record from the answer. */
const validated = 299

const isValid = async (response: Response) => {
  if (response.headers.get("preference-applied") !== preference) return false
  return memberOf(await response.clone().json(), "data", "valid") === true
}

/** Sends writes with `Prefer: validate-only`. The status of a valid one is `validated`. */
const validating =
  (send: typeof fetch): typeof fetch =>
  async (input, init = {}) => {
    if (init.method === undefined || init.method === "GET") return send(input, init)
    const headers = new Headers(init.headers)
    headers.set("prefer", preference)
    const response = await send(input, { ...init, headers })
    return (await isValid(response)) ? new Response(undefined, { status: validated }) : response
  }

/** Runs an effect whose requests write nothing: the service validates them completely and answers as it would. */
const validateOnly = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(FetchHttpClient.Fetch, (send) =>
    Effect.provideService(effect, FetchHttpClient.Fetch, validating(send))
  )

/** Whether a request was valid and wrote nothing. It is a failure, because there is no record to go on with. */
export const isValidated = (failure: Failure): boolean =>
  HttpClientError.isHttpClientError(failure) && failure.response?.status === validated

/** A valid request that wrote nothing is a success. */
export const allowed = <A>(effect: Effect.Effect<A, Failure>): Effect.Effect<A | undefined, Failure> =>
  Effect.catchIf(effect, isValidated, () => Effect.as(Effect.void, undefined))

/** The keys of the records that a dry run would create. */
export const createdKeys = () => {
  const keys = hashTable()
  let count = 0
  return {
    add: (key: unknown) => void keys.add(String(key), ++count),
    has: (key: unknown): boolean => Predicate.isString(key) && keys.has(key)
  }
}

export type CreatedKeys = ReturnType<typeof createdKeys>

/**
 * Calls that end with the validation of the row. A row that names a record which another row of the file creates passes
 * without the service, which does not have that record.
 */
export const calls = (calls: Calls, { key, late }: Resource, created: CreatedKeys): Calls => {
  const note = (payload: unknown) => Effect.sync(() => created.add(memberOf(payload, key)))
  const isCreated = (failure: Failure) => failure._tag === late && created.has(memberOf(failure, "reference"))
  return {
    ...calls,
    create: (payload) =>
      allowed(validateOnly(calls.create(payload))).pipe(
        Effect.catchIf(isCreated, () => Effect.void),
        Effect.tap(() => note(payload))
      ),
    update: (uuid, payload) =>
      allowed(validateOnly(calls.update(uuid, payload))).pipe(Effect.catchIf(isCreated, () => Effect.void))
  }
}
