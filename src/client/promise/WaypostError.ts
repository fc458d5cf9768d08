import * as Errors from "./Errors.ts"
import type { ServiceError } from "./Types.ts"

/** An error of any operation. */
export type WaypostError = Errors.ErrorOf<ServiceError>

/** The class of all errors: `error instanceof WaypostError && error._tag === "LocationNotFoundError"`. */
export const WaypostError = Errors.WaypostError as new (
  ...members: ConstructorParameters<typeof Errors.WaypostError>
) => WaypostError
