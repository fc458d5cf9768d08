import { Context } from "effect"
import { type HttpApiEndpoint, HttpApiMiddleware } from "effect/http-api"
import type { Annotatable } from "../Annotations.ts"
import type { CurrentApiKey } from "../Authorization.ts"

/** What makes a write safe. */
export type SafeWrite = "Idempotency-Key" | "validate-only"

/** The ways of writing safely that an endpoint rejects. An endpoint without this annotation rejects none. */
export class RejectedSafeWrites extends Context.Service<RejectedSafeWrites, ReadonlyArray<SafeWrite>>()(
  "waypost/api/writes/SafeWrites/RejectedSafeWrites"
) {}

/** Declares which ways of writing safely an endpoint rejects. */
export const rejects =
  (...ways: ReadonlyArray<SafeWrite>) =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
    endpoint.annotateMerge(RejectedSafeWrites.context(ways))

/** Whether the answer to a validation is that of the operation. */
export class AnswersInFull extends Context.Service<AnswersInFull, boolean>()(
  "waypost/api/writes/SafeWrites/AnswersInFull"
) {}

/** Declares that a validation is answered with what the operation answers, and not with `valid` alone. */
export const answersInFull = <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
  endpoint.annotateMerge(AnswersInFull.context(true))

/** Whether an endpoint offers a way of writing safely. */
export const offers = ({ annotations, method }: HttpApiEndpoint.Top, way: SafeWrite): boolean =>
  method !== "GET" &&
  !Context.getOrElse(annotations, RejectedSafeWrites, (): ReadonlyArray<SafeWrite> => []).includes(way)

/** Whether a repetition of a write without a key continues and completes the first attempt. */
export class NeedsNoKey extends Context.Service<NeedsNoKey, boolean>()("waypost/api/writes/SafeWrites/NeedsNoKey") {}

/** Declares that the typed clients repeat a write without an `Idempotency-Key`, although it takes one. */
export const needsNoKey = <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
  endpoint.annotateMerge(NeedsNoKey.context(true))

/** Whether the typed clients send an `Idempotency-Key` with a write that needs one to be repeated. */
export const isRepeatedWithKey = (endpoint: HttpApiEndpoint.Top): boolean =>
  offers(endpoint, "Idempotency-Key") && !Context.getOrElse(endpoint.annotations, NeedsNoKey, () => false)

/** Whether an endpoint reads `If-Match`: every write of a record does. */
export const readsPrecondition = ({ method, path }: HttpApiEndpoint.Top): boolean =>
  method !== "GET" && path.includes(":uuid")

/** Repeats no write whose `Idempotency-Key` it knows, and undoes one that is only to be validated. */
export class SafeWrites extends HttpApiMiddleware.Service<SafeWrites, { requires: CurrentApiKey }>()(
  "waypost/api/writes/SafeWrites"
) {}
