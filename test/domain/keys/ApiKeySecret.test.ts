import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Option, Schema } from "effect"
import { crc32 } from "node:zlib"
import { format, parse, prefixOf } from "../../../src/domain/keys/ApiKeySecret.ts"
import { property } from "../../support/Runs.ts"

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const value = (base62: string) =>
  Array.from(base62).reduce((sum, digit) => sum * 62n + BigInt(digits.indexOf(digit)), 0n)
const integer = (bytes: Uint8Array) => (bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString("hex")}`))

const byte = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
const bytes = (length: number) =>
  Arbitrary.map(Arbitrary.array(Arbitrary.schema(byte), { minLength: length, maxLength: length }), (list) =>
    Uint8Array.from(list)
  )

describe("format of API keys", () => {
  it.effect.prop(
    "a key has the id, the secret and their checksum, and is parsed back",
    [bytes(16), bytes(32)],
    ([idBytes, secretBytes]) =>
      Effect.sync(() => {
        const { id, key, secret } = format(idBytes, secretBytes)
        assert.match(key, /^wp_[0-9A-Za-z]{22}_[0-9A-Za-z]{49}$/)
        assert.strictEqual(key.slice(3, 25), id)
        assert.strictEqual(key.slice(26, 69), secret)
        assert.strictEqual(value(id), integer(idBytes))
        assert.strictEqual(value(secret), integer(secretBytes))
        assert.strictEqual(value(key.slice(-6)), BigInt(crc32(key.slice(0, -6))))
        assert.deepStrictEqual(parse(key), Option.some({ id, secret }))
        assert.strictEqual(prefixOf(id), key.slice(0, 25))
      }),
    property(300)
  )

  it("id and secret are padded on the left with 0", () => {
    for (let zeros = 0; zeros <= 32; zeros++) {
      const secretBytes = new Uint8Array(32).fill(255, zeros)
      const { key, secret } = format(new Uint8Array(16).fill(255, Math.min(zeros, 16)), secretBytes)
      assert.lengthOf(key, 75)
      assert.strictEqual(value(secret), integer(secretBytes))
    }
    assert.strictEqual(
      format(new Uint8Array(16), new Uint8Array(32)).key.slice(0, 69),
      `wp_${"0".repeat(22)}_${"0".repeat(43)}`
    )
  })

  it("the checksum of a key is padded on the left with 0", () => {
    const short = Array.from(
      { length: 200_000 },
      (_, index) => `wp_${String(index).padStart(22, "0")}_${"0".repeat(43)}`
    ).find((body) => crc32(body) < 62 ** 4)
    assert.isDefined(short)
    const digitsOf = (sum: number): string => (sum === 0 ? "" : digitsOf(Math.floor(sum / 62)) + digits[sum % 62]!)
    const sum = digitsOf(crc32(short)).padStart(6, "0")
    assert.match(sum, /^00/)
    assert.isTrue(Option.isSome(parse(short + sum)))
    assert.isTrue(Option.isNone(parse(short + sum.replace(/^0+/, ""))))
  })
})

describe("mistyped API keys", () => {
  const { key } = format(
    Uint8Array.from({ length: 16 }, (_, index) => index * 7),
    Uint8Array.from({ length: 32 }, (_, index) => 255 - index * 5)
  )
  const typed = Array.from(`${digits}_- .\n\0é`)

  const accepted = (mistakes: ReadonlyArray<string>) =>
    mistakes.filter((mistake) => mistake !== key && Option.isSome(parse(mistake)))
  const places = Array.from(key, (_, at) => at)

  it("a key with one wrong character is rejected", () => {
    const mistakes = places.flatMap((at) => typed.map((character) => key.slice(0, at) + character + key.slice(at + 1)))
    assert.isAbove(mistakes.length, 5000)
    assert.deepStrictEqual(accepted(mistakes), [])
  })

  it("a key with a missing, a doubled or two swapped characters is rejected", () => {
    const mistakes = places.flatMap((at) => [
      key.slice(0, at) + key.slice(at + 1),
      key.slice(0, at) + key[at]! + key.slice(at),
      key.slice(0, at) + (key[at + 1] ?? "") + key[at]! + key.slice(at + 2)
    ])
    assert.deepStrictEqual(accepted(mistakes), [])
  })

  it.each([
    "",
    "wp_",
    ` ${key}`,
    `${key} `,
    `${key}\n`,
    key.toUpperCase(),
    key.toLowerCase(),
    `Bearer ${key}`,
    key.slice(3),
    `${key}${key}`
  ])("%j is not a key", (text) => assert.deepStrictEqual(parse(text), Option.none()))

  it("the unmodified key is accepted", () => assert.isTrue(Option.isSome(parse(key))))
})
