import { Schema } from "effect"
import { Uuid } from "../schema/Fields.ts"

/** In a file of its own, because users name groups and groups name users. */
export const UserId = Uuid.pipe(Schema.brand("UserId"))
export type UserId = typeof UserId.Type
