import { HttpApiMiddleware } from "effect/http-api"
import { TransportError } from "../domain/write/RequestErrors.ts"

/** Turns a request that does not decode into a 400 that names the member; declares the errors of every operation. */
export class ErrorBoundary extends HttpApiMiddleware.Service<ErrorBoundary>()("waypost/api/ErrorBoundary", {
  error: TransportError.members
}) {}
