import { Schema } from "effect"
import { Uuid } from "../schema/Fields.ts"

/** In a file of its own, because products name their modules and modules name their product. */
export const ProductId = Uuid.pipe(Schema.brand("ProductId"))
export type ProductId = typeof ProductId.Type
