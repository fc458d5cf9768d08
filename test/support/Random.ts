import { createCipheriv } from "node:crypto"

/** Seeded random numbers from 0 to 1 (mulberry32). */
export type Random = () => number

export const randomOf = (seed: number): Random => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export const pick = <A>(random: Random, list: ReadonlyArray<A>): A => list[Math.floor(random() * list.length)]!

/** Seeded incompressible bytes. */
export const noise = (size: number, seed: number): Buffer =>
  createCipheriv("aes-128-ctr", Buffer.alloc(16, seed), Buffer.alloc(16)).update(Buffer.alloc(size))
