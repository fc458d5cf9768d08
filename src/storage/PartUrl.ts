import { Redacted } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"
import { isPartNumber } from "./PartList.ts"

/** What the address of a part allows: to send this part, with so many bytes at most. */
export interface PartGrant {
  readonly uploadId: string
  readonly partNumber: number
  readonly maxSize: number
}

export type Secret = Redacted.Redacted<string | Uint8Array>

const pathOf = ({ partNumber, uploadId }: PartGrant) => `/uploads/${uploadId}/${partNumber}`

const signature = (secret: Secret, grant: PartGrant, expires: number) =>
  createHmac("sha256", Redacted.value(secret))
    .update(`PUT\n${pathOf(grant)}\n${expires}\n${grant.maxSize}`)
    .digest("base64url")

/** The path and query that grants this; `expires` in seconds since 1970. */
export const signed = (secret: Secret, grant: PartGrant, expires: number): string =>
  `${pathOf(grant)}?expires=${expires}&max=${grant.maxSize}&signature=${signature(secret, grant, expires)}`

// Exactly what `signed` makes. A URL parser would let the same grant be written in many ways.
const form =
  /^\/uploads\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/([1-9]\d{0,4})\?expires=([1-9]\d{0,11})&max=(0|[1-9]\d{0,14})&signature=([\w-]{43})$/

/** What a path and query grants, and until when; nothing when it was not signed here. */
export const opened = (
  secret: Secret,
  url: string
): { readonly grant: PartGrant; readonly expires: number } | undefined => {
  const match = form.exec(url)
  if (match === null) return undefined
  const [, uploadId, partNumber, expires, maxSize, sent] = match as unknown as [
    string,
    string,
    string,
    string,
    string,
    string
  ]
  const grant = { uploadId, partNumber: Number(partNumber), maxSize: Number(maxSize) }
  if (!isPartNumber(grant.partNumber)) return undefined
  const expected = signature(secret, grant, Number(expires))
  if (!timingSafeEqual(Buffer.from(sent), Buffer.from(expected))) return undefined
  return { grant, expires: Number(expires) }
}
