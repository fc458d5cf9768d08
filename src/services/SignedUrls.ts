import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { createHash, timingSafeEqual } from "node:crypto"
import { InvalidAddressError } from "../domain/write/RequestErrors.ts"
import { Files } from "../repositories/assets/Files.ts"

/** HMAC-SHA256 with the padded keys that the database stores, so that URLs signed in SQL can be verified here. */
const hmac = (innerKey: Uint8Array, outerKey: Uint8Array, message: string) =>
  createHash("sha256").update(outerKey).update(createHash("sha256").update(innerKey).update(message).digest()).digest()

/** Verifies the file URLs of responses, which need no API key but have a signature and an expiry. */
export class SignedUrls extends Context.Service<
  SignedUrls,
  {
    /** Fails if the service did not sign this URL, or if it has expired. */
    verify(url: {
      readonly uuid: string
      readonly name: string
      readonly expires: string
      readonly signature: string
    }): Effect.Effect<void, InvalidAddressError>
    /** Derives a key for other signatures from the secret of the database. */
    readonly derivedKey: (purpose: string) => Redacted.Redacted<Uint8Array>
  }
>()("waypost/services/SignedUrls") {
  static readonly layer = Layer.effect(
    SignedUrls,
    Effect.gen(function* () {
      const { innerKey, outerKey } = yield* (yield* Files).secret
      const verify: SignedUrls["Service"]["verify"] = Effect.fn("SignedUrls.verify")(function* (url) {
        const { expires, name, signature, uuid } = url
        // Only digits: with other text, what is signed could be read as another name.
        if (!/^\d{1,12}$/.test(expires)) return yield* changed
        // Compared as text, because decoding ignores some bits of the last character.
        const expected = Buffer.from(hmac(innerKey, outerKey, `${uuid}/${name}?${expires}`).toString("base64url"))
        const sent = Buffer.from(signature)
        if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) return yield* changed
        if (Number(expires) * 1000 <= (yield* Clock.currentTimeMillis)) return yield* expired
      })
      return SignedUrls.of({ verify, derivedKey: (purpose) => Redacted.make(hmac(innerKey, outerKey, purpose)) })
    })
  )
}

const changed = new InvalidAddressError({
  message: "The signature does not match this URL; use the URL of the record unchanged"
})
const expired = new InvalidAddressError({ message: "The URL has expired; read the record again for a new one" })
