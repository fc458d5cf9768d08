import { type ErrorOf, TaggedError } from "./TaggedError.ts"
import type { ServiceError } from "./Types.ts"

/** An error of any operation. */
export type WaypostError = ErrorOf<ServiceError>

/** The class of all errors: `error instanceof WaypostError && error._tag === "LocationNotFoundError"`. */
export const WaypostError = TaggedError as new (...members: ConstructorParameters<typeof TaggedError>) => WaypostError
