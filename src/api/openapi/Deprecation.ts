import { Context, DateTime } from "effect"
import { OpenApi } from "effect/http-api"
import type { Annotatable } from "../Annotations.ts"

/** How an endpoint ends. */
export interface Notice {
  /** When it was deprecated. */
  readonly since: DateTime.Utc
  /** When it is removed, at least twelve months later. */
  readonly sunset: DateTime.Utc
  /** The URL of a page about what replaces it. */
  readonly guide: string
}

/** The notice of a deprecated endpoint. An endpoint without this annotation stays. */
export class Deprecation extends Context.Service<Deprecation, Notice>()("waypost/api/openapi/Deprecation") {}

/** Declares an endpoint as deprecated, for the headers of its responses and for the OpenAPI document. */
export const deprecated =
  (notice: Notice) =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
    endpoint.annotateMerge(Context.add(Deprecation.context(notice), OpenApi.Deprecated, true))

/** `Deprecation` of RFC 9745 and `Sunset` of RFC 8594, each with a link to the guide. */
export const headersOf = ({ guide, since, sunset }: Notice) => ({
  deprecation: `@${Math.floor(DateTime.toEpochMillis(since) / 1000)}`,
  sunset: DateTime.toDateUtc(sunset).toUTCString(),
  link: `<${guide}>; rel="deprecation", <${guide}>; rel="sunset"`
})
