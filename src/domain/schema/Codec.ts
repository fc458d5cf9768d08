import type { Schema } from "effect"

/** A generic schema as a codec of its types, which inference can resolve. */
export const codecOf = <S extends Schema.Top>(schema: S) => schema as unknown as Schema.Codec<S["Type"], S["Encoded"]>
