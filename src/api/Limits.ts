import { Context } from "effect"
import { maxDataBytes } from "../domain/write/Bulk.ts"
import { manyRecordsSeconds } from "../domain/write/ManyRecords.ts"
import type { Annotatable } from "./Annotations.ts"

/** The maximum size of a path, in bytes. */
export const maxPathBytes = 2 * 1024

/** The maximum size of a query, in bytes. */
export const maxQueryBytes = 8 * 1024

/** The maximum size of the request line and headers together, in bytes. */
export const maxHeaderBytes = 16 * 1024

/** The maximum size of the body of a route that has no other limit, in bytes. */
export const maxBodyBytes = maxDataBytes

/** The limits of a route; a member that is absent has its default. */
export interface Limits {
  /** How long the answer may take, in milliseconds. */
  readonly answerMillis: number
  /** How long it may take once a slow body has arrived, for which `answerMillis` is the time then. */
  readonly afterBodyMillis: number | undefined
  /** Whether the body may arrive for as long as the answer may take, as the client's bandwidth allows. */
  readonly hasSlowBody: boolean
  /**
   * The count of requests in flight that it belongs to. Parts and files have counts of their own, so that slow clients and a
   * slow storage never crowd out other requests; an exempt route answers even when the service is overloaded.
   */
  readonly inFlight: "requests" | "parts" | "files" | "exempt"
  /** The maximum size of the body, in bytes. */
  readonly maxBodyBytes: number | undefined
  /** The share of its key in which a request counts, in addition to that of requests; a place of the process goes with it. */
  readonly share: "bulk" | undefined
}

/** The limits of an operation that alters or counts many records. */
export const ofManyRecords = { answerMillis: manyRecordsSeconds * 1000 } as const satisfies Partial<Limits>

/**
 * Whether reads of an endpoint or a group always go to the primary: what they read changes by the moment, or the service
 * itself changes it.
 */
export const ReadsPrimary = Context.Reference<boolean>("waypost/api/Limits/ReadsPrimary", {
  defaultValue: () => false
})

/** The limits of an endpoint. An endpoint without this annotation has the defaults. */
export class RouteLimits extends Context.Service<RouteLimits, Partial<Limits>>()("waypost/api/Limits/RouteLimits") {}

/** Declares the limits of an endpoint that needs others than the defaults. */
export const limits =
  (values: Partial<Limits>) =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
    endpoint.annotateMerge(RouteLimits.context(values))
