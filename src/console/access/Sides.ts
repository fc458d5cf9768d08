import { resourceOfType } from "../definition/Resources.ts"

/** Who could see it, and what there is to see; one of each is chosen. */
export const sides = [
  ["user", "location"],
  ["product", "post"]
] as const

export type Kind = (typeof sides)[number][number]

export const resourceOf = (kind: Kind) => resourceOfType(kind)!
