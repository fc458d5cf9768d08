import { type HttpApiEndpoint, OpenApi } from "effect/http-api"

/** The summary and description of an endpoint in the OpenAPI document. */
export const describe =
  (summary: string, description: string) =>
  <Endpoint extends HttpApiEndpoint.Constraint>(endpoint: Endpoint): Endpoint =>
    (endpoint as unknown as HttpApiEndpoint.Top).annotateMerge(OpenApi.annotations({ summary, description })) as never
