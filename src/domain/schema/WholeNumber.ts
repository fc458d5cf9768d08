import { Schema } from "effect"

/** The check that a whole number is from `minimum` to `maximum`. */
export const inRange = (minimum: number, maximum: number, expected = `a whole number from ${minimum} to ${maximum}`) =>
  Schema.isBetween({ minimum, maximum }, { expected, code: "outOfRange" })

/** A whole number from `minimum` to `maximum`. */
export const int = (minimum: number, maximum: number) =>
  Schema.Finite.check(
    Schema.isInt({ expected: `a whole number from ${minimum} to ${maximum}`, code: "wrongType" }),
    inRange(minimum, maximum)
  )
