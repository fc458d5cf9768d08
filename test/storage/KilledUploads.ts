import { createHash } from "node:crypto"

/** The numbers of the parts that are sent before a process is killed. */
export const partsOfKilled = [1, 2, 3]

/** Bytes that tell which part of which upload they are, 4 MiB of them. */
export const contentOfPart = (key: string, partNumber: number): Uint8Array => {
  const digest = createHash("sha256").update(`${key} ${partNumber}`).digest()
  return Buffer.alloc(4 * 1024 * 1024, digest)
}
