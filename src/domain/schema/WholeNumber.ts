import { Schema } from "effect"

/** The check that a whole number is from `minimum` to `maximum`. */
export const inRange = (minimum: number, maximum: number, expected = `a whole number from ${minimum} to ${maximum}`) =>
  Schema.isBetween({ minimum, maximum }, { expected, code: "outOfRange" })

/** How many there are of something. */
export const Count = Schema.Int.check(inRange(0, Number.MAX_SAFE_INTEGER))

/** A whole number from `minimum` to `maximum`. */
export const int = (minimum: number, maximum: number) =>
  Schema.Finite.check(
    Schema.isInt({ expected: `a whole number from ${minimum} to ${maximum}`, code: "wrongType" }),
    inRange(minimum, maximum)
  )
