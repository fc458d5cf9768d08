import { Redacted } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"
import { isPartNumber } from "./PartList.ts"

const folder = "/uploads/"
const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

/** The path of a part, as a router reads it. */
export const path = `${folder}:upload/:part` as const

/** A part URL permits to send this part, of at most so many bytes. */
export interface PartGrant {
  readonly uploadId: string
  readonly partNumber: number
  readonly maxSize: number
}

export type Secret = Redacted.Redacted<string | Uint8Array>

const pathOf = ({ partNumber, uploadId }: PartGrant) => `${folder}${uploadId}/${partNumber}`

const signature = (secret: Secret, grant: PartGrant, expires: number) =>
  createHmac("sha256", Redacted.value(secret))
    .update(`PUT\n${pathOf(grant)}\n${expires}\n${grant.maxSize}`)
    .digest("base64url")

/** The path and query of a grant; `expires` in seconds since 1970. */
export const signed = (secret: Secret, grant: PartGrant, expires: number): string =>
  `${pathOf(grant)}?expires=${expires}&max=${grant.maxSize}&signature=${signature(secret, grant, expires)}`

// Exactly the form that `signed` writes. A URL parser would accept several spellings of one grant.
const form = new RegExp(
  `^${folder}(?<uploadId>${uuid})/(?<partNumber>[1-9]\\d{0,4})` +
    "\\?expires=(?<expires>[1-9]\\d{0,11})&max=(?<maxSize>0|[1-9]\\d{0,14})&signature=(?<sent>[\\w-]{43})$"
)

/** The grant of a path and query, and when it expires; `undefined` when it was not signed here. */
export const opened = (
  secret: Secret,
  url: string
): { readonly grant: PartGrant; readonly expires: number } | undefined => {
  const { expires = "", maxSize, partNumber, sent = "", uploadId = "" } = form.exec(url)?.groups ?? {}
  const grant = { uploadId, partNumber: Number(partNumber), maxSize: Number(maxSize) }
  if (!isPartNumber(grant.partNumber)) return undefined
  const expected = signature(secret, grant, Number(expires))
  if (!timingSafeEqual(Buffer.from(sent), Buffer.from(expected))) return undefined
  return { grant, expires: Number(expires) }
}
