import { OpenApi } from "effect/http-api"
import type { Permission } from "../domain/keys/Permission.ts"
import type { Annotatable } from "./Annotations.ts"
import { requires } from "./Authorization.ts"

/** The summary and description of an endpoint in the OpenAPI document. */
export const describe =
  (summary: string, description: string) =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
    endpoint.annotateMerge(OpenApi.annotations({ summary, description }))

/** The permission that an endpoint requires, its summary and its description. */
export const operation =
  (permission: Permission, summary: string, description: string) =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
    describe(summary, description)(requires(permission)(endpoint))

/** The title and description of a group of endpoints. */
export const group = (title: string, description: string) => OpenApi.annotations({ title, description })
