import { Schema } from "effect"

/** A whole number from `minimum` to `maximum`. */
export const int = (minimum: number, maximum: number) => {
  const expected = `a whole number from ${minimum} to ${maximum}`
  return Schema.Finite.check(
    Schema.isInt({ expected, code: "wrongType" }),
    Schema.isBetween({ minimum, maximum }, { expected, code: "outOfRange" })
  )
}
