import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { createHash, timingSafeEqual } from "node:crypto"
import { InvalidAddressError } from "../domain/write/RequestErrors.ts"
import { Files } from "../repositories/assets/Files.ts"

/** HMAC-SHA256 with the key as the database keeps it, so that an address signed by SQL can be checked here. */
const hmac = (innerKey: Uint8Array, outerKey: Uint8Array, message: string) =>
  createHash("sha256").update(outerKey).update(createHash("sha256").update(innerKey).update(message).digest()).digest()

/** Checks the addresses that answers contain: they are read without a key, and carry a signature and an expiry. */
export class SignedUrls extends Context.Service<
  SignedUrls,
  {
    /** Fails unless the service itself made this address and its time has not passed. */
    verify(address: {
      readonly uuid: string
      readonly name: string
      readonly expires: string
      readonly signature: string
    }): Effect.Effect<void, InvalidAddressError>
    /** A key for other signatures, which only those who know the database's secret can make. */
    readonly derivedKey: (purpose: string) => Redacted.Redacted<Uint8Array>
  }
>()("waypost/services/SignedUrls") {
  static readonly layer = Layer.effect(
    SignedUrls,
    Effect.gen(function* () {
      const { innerKey, outerKey } = yield* (yield* Files).secret
      const verify = Effect.fnUntraced(function* (address: Parameters<SignedUrls["Service"]["verify"]>[0]) {
        const { expires, name, signature, uuid } = address
        // Compared as text: the last character of a signature has bits that decoding would ignore.
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
  message: "The signature does not belong to this address; take it from an answer"
})
const expired = new InvalidAddressError({ message: "The address has expired; read the record again for a fresh one" })
