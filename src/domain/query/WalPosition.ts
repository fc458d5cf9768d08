/**
 * A position in the log of the database, as PostgreSQL writes it: `16/B374D848`. A replica that has reached the position of
 * a write answers with what the write left.
 */
export type WalPosition = string

/** The name of the header with the position of the last write that an answer must show. */
export const positionHeader = "waypost-position"

export const isWalPosition = (text: string): text is WalPosition => /^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/i.test(text)

/** The bytes of the log before a position, by which positions compare. */
export const bytesBefore = (position: WalPosition): bigint => {
  const [high = "", low = ""] = position.split("/")
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}

/** The position after a number of bytes. */
export const walPositionAfter = (bytes: bigint): WalPosition =>
  `${(bytes >> 32n).toString(16)}/${(bytes & 0xffff_ffffn).toString(16)}`.toUpperCase()
