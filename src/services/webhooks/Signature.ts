import { createHmac } from "node:crypto"

/** The headers of a delivery according to Standard Webhooks, with a signature for each secret, in base64. */
export const headersOf = (
  message: { readonly id: string; readonly seconds: number; readonly body: string },
  secrets: ReadonlyArray<string>
): Readonly<Record<string, string>> => {
  const { body, id, seconds } = message
  const sign = (secret: string) =>
    `v1,${createHmac("sha256", Buffer.from(secret, "base64")).update(`${id}.${seconds}.${body}`).digest("base64")}`
  return {
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": secrets.map(sign).join(" ")
  }
}

/** A secret as people see it. */
export const shown = (secret: Uint8Array): string => `whsec_${Buffer.from(secret).toString("base64")}`
