import { Option } from "effect"

/**
 * The text of a key: `wp_<id>_<secret><checksum>` in base62.
 *
 * The id finds the row, the secret proves the right to it, and the checksum (CRC-32 of every character before it) lets
 * the service reject a typing error without a database. The fixed form is what secret scanners look for.
 */
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const idLength = 22
const secretLength = 43
const checksumLength = 6
const form = /^wp_([0-9A-Za-z]{22})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/** A number in base62, left-padded with `0`. */
const base62 = (value: bigint, length: number): string => {
  let rest = value
  let digits = ""
  while (rest > 0n) {
    digits = alphabet[Number(rest % 62n)]! + digits
    rest /= 62n
  }
  return digits.padStart(length, "0")
}

const toInteger = (bytes: Uint8Array): bigint => bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)

/** CRC-32/IEEE (the one of zip and PNG) of ASCII text. */
const crc32 = (ascii: string): number => {
  let crc = 0xffffffff
  for (let index = 0; index < ascii.length; index++) {
    crc ^= ascii.charCodeAt(index)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}

const checksum = (text: string): string => base62(BigInt(crc32(text)), checksumLength)

export interface Parts {
  readonly id: string
  readonly secret: string
}

/** The start of a key that may be shown: `wp_<id>`. */
export const prefixOf = (id: string): string => `wp_${id}`

/** Builds a key from 16 random bytes for the id and 32 for the secret. */
export const format = (idBytes: Uint8Array, secretBytes: Uint8Array): Parts & { readonly key: string } => {
  const id = base62(toInteger(idBytes), idLength)
  const secret = base62(toInteger(secretBytes), secretLength)
  const body = `${prefixOf(id)}_${secret}`
  return { id, secret, key: body + checksum(body) }
}

/** The parts of a key, if its form and checksum are right. */
export const parse = (key: string): Option.Option<Parts> => {
  const [, id = "", secret = "", sum] = form.exec(key) ?? []
  return checksum(key.slice(0, -checksumLength)) === sum ? Option.some({ id, secret }) : Option.none()
}
