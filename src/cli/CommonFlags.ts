import { Flag } from "effect/cli"

/** A flag that is there or not. */
export const toggle = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

/** A flag with a text, if it is given. */
export const optionalText = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

/** A flag with a number from 1 to `max`. */
export const numberTo = (name: string, description: string, max: number, fallback: number) =>
  Flag.Int(name).pipe(
    Flag.withDescription(`${description}, 1 to ${max}`),
    Flag.filter(
      (value) => value >= 1 && value <= max,
      (value) => `Expected 1 to ${max}, got ${value}`
    ),
    Flag.withDefault(fallback)
  )

export const json = toggle("json", "Print JSON")
