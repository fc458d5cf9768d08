import { createHash } from "node:crypto"

/** The part numbers that the joiner sends. */
export const partsOfKilled = [1, 2, 3]

/** The 4 MiB of a part, derived from its key and number. */
export const contentOfPart = (key: string, partNumber: number): Uint8Array => {
  const digest = createHash("sha256").update(`${key} ${partNumber}`).digest()
  return Buffer.alloc(4 * 1024 * 1024, digest)
}
