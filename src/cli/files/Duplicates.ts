import { Predicate, Result, Stream } from "effect"
import { hash } from "node:crypto"
import { memberOf } from "../../domain/schema/Json.ts"
import type { Resource } from "../transfer/Resource.ts"
import { numberOf, placeOf, type Row } from "./Row.ts"

/** Three words of a hash, and the number. */
const words = 4

/** Numbers by text, which is kept as 96 bits of a hash: 16 bytes a place, however long the text. */
export const hashTable = () => {
  let capacity = 1024
  let used = 0
  let slots = new Uint32Array(capacity * words)

  /** The place of a hash: its own, or the free one that it takes. Numbers begin with 1, so that 0 marks a free place. */
  const find = (table: Uint32Array, size: number, a: number, b: number, c: number) => {
    let slot = a % size
    for (;;) {
      const at = slot * words
      if (table[at + 3] === 0 || (table[at] === a && table[at + 1] === b && table[at + 2] === c)) return at
      slot = (slot + 1) % size
    }
  }

  const grow = () => {
    const larger = new Uint32Array(capacity * 2 * words)
    for (let at = 0; at < slots.length; at += words) {
      if (slots[at + 3] === 0) continue
      const entry = slots.subarray(at, at + words)
      larger.set(entry, find(larger, capacity * 2, entry[0]!, entry[1]!, entry[2]!))
    }
    capacity *= 2
    slots = larger
  }

  const place = (text: string) => {
    const digest = hash("sha256", text, "buffer")
    const [a, b, c] = [digest.readUInt32LE(0), digest.readUInt32LE(4), digest.readUInt32LE(8)]
    return { a, b, c, at: find(slots, capacity, a, b, c) }
  }

  return {
    /** The number that the text has already; a new text gets the number, which is not 0. */
    add: (text: string, number: number): number | undefined => {
      const { a, at, b, c } = place(text)
      if (slots[at + 3] !== 0) return slots[at + 3]
      slots.set([a, b, c, number], at)
      if (++used * 2 > capacity) grow()
      return undefined
    },
    has: (text: string): boolean => slots[place(text).at + 3] !== 0
  }
}

/** A key as the unique indexes of the database compare it. */
const folded = (text: string) => text.toLowerCase().replaceAll("ς", "σ")

/** Refuses rows that have the key of an earlier row, with the numbers of both; the earlier row is imported. */
export const reject =
  ({ foldsKey = false, key }: Resource) =>
  <E, R>(rows: Stream.Stream<Row, E, R>): Stream.Stream<Row, E, R> =>
    Stream.suspend(() => {
      const seen = hashTable()
      const check = (row: Row): Row => {
        const sent = Result.isSuccess(row.record) ? memberOf(row.record.success, key) : undefined
        if (!Predicate.isString(sent) || sent.trim() === "") return row
        const normal = sent.normalize("NFC").trim()
        const first = seen.add(foldsKey ? folded(normal) : normal, numberOf(row.at))
        if (first === undefined) return { ...row, key: sent }
        const message = `${placeOf(row.at)} has the same ${key} as ${placeOf(row.at, first)}: "${normal}"`
        return { ...row, key: sent, record: Result.fail([{ path: key, code: "duplicateInFile", message }]) }
      }
      return Stream.map(rows, check)
    })
