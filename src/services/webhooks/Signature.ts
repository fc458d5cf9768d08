import { createHmac, timingSafeEqual } from "node:crypto"

/** What a signature is of. */
interface Signed {
  readonly id: string
  readonly seconds: number
  readonly body: string
}

/** The signature of a message by a secret in base64. */
const sign = ({ body, id, seconds }: Signed, secret: string) =>
  `v1,${createHmac("sha256", Buffer.from(secret, "base64")).update(`${id}.${seconds}.${body}`).digest("base64")}`

/** The headers of a delivery according to Standard Webhooks, with a signature for each secret, in base64. */
export const headersOf = (message: Signed, secrets: ReadonlyArray<string>): Readonly<Record<string, string>> => ({
  "webhook-id": message.id,
  "webhook-timestamp": String(message.seconds),
  "webhook-signature": secrets.map((secret) => sign(message, secret)).join(" ")
})

const prefix = "whsec_"

/** A secret as people see it. */
export const shown = (secret: Uint8Array): string => `${prefix}${Buffer.from(secret).toString("base64")}`

/** Seconds that the clocks of a sender and a receiver may differ. */
const tolerance = 300

/** Whether one of the signatures of a message is of this secret, and the message is not old. */
export const verify = (
  { signatures, ...message }: Signed & { readonly signatures: string },
  { now, secret }: { readonly secret: string; readonly now: number }
): boolean => {
  const expected = Buffer.from(sign(message, secret.slice(prefix.length)))
  return (
    Math.abs(now - message.seconds) <= tolerance &&
    signatures.split(" ").some((signature) => {
      const sent = Buffer.from(signature)
      return sent.length === expected.length && timingSafeEqual(sent, expected)
    })
  )
}
