import { HttpApiMiddleware } from "effect/http-api"
import { InternalServerError, InvalidRequestError } from "../domain/write/RequestErrors.ts"

/** Turns what does not decode into a 400 that names the member; declares the 500 that any operation can answer with. */
export class ErrorBoundary extends HttpApiMiddleware.Service<ErrorBoundary>()("waypost/api/ErrorBoundary", {
  error: [InvalidRequestError, InternalServerError]
}) {}
