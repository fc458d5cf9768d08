import { OpenApi } from "effect/http-api"
import type { Annotatable } from "./Annotations.ts"

/** The summary and description of an endpoint in the OpenAPI document. */
export const describe =
  (summary: string, description: string) =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
    endpoint.annotateMerge(OpenApi.annotations({ summary, description }))
