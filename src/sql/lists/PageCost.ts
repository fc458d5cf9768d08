import { defaults } from "../../domain/query/Pagination.ts"
import { maxSmallBytes } from "./AnswerSizes.ts"

/** A page of more bytes than this leaves the pipelined connections. */
const cheapBytes = 256 * 1024

/** How long a page is remembered at least; at most twice as long. */
const memoryMillis = 5 * 60_000

interface Noted {
  /** The bytes of a row of the largest page. */
  readonly rowBytes: number
  /** Whether there was a page of whole records. */
  readonly isKnown: boolean
}

const nothing: Noted = { rowBytes: 0, isKnown: false }

/** A page of a few rows counts as one of the default limit, because not every record is as large as a single one was. */
const countedRows = (rows: number) => Math.max(rows, defaults.limit)

/**
 * What a page of a list may cost, by the largest page of the last minutes. Time ends the memory of a large page, and not
 * the number of other pages: those of other keys say nothing about its rows.
 */
export const make = (now: () => number = () => performance.now()) => {
  let recent = nothing
  let earlier = nothing
  let began = now()

  const noted = (): Noted => {
    const ended = Math.floor((now() - began) / memoryMillis)
    if (ended > 0) {
      earlier = ended === 1 ? recent : nothing
      recent = nothing
      began += ended * memoryMillis
    }
    return { rowBytes: Math.max(recent.rowBytes, earlier.rowBytes), isKnown: recent.isKnown || earlier.isKnown }
  }

  const costs = (limit: number) => {
    const { isKnown, rowBytes } = noted()
    return { bytes: rowBytes * countedRows(limit), isUnknown: !isKnown && limit > defaults.limit }
  }

  /** Notes what a page had; at least that, unless it had all members of its records. */
  const note = (bytes: number, rows: number, { isAtLeast = false } = {}) => {
    noted()
    recent = {
      rowBytes: Math.max(recent.rowBytes, bytes / countedRows(rows)),
      isKnown: recent.isKnown || !isAtLeast
    }
  }

  return {
    /** Whether a page takes little of the database. */
    isCheap: (limit: number) => {
      const { bytes, isUnknown } = costs(limit)
      return !isUnknown && bytes <= cheapBytes
    },
    /** Whether a page may have megabytes. */
    isLarge: (limit: number) => {
      const { bytes, isUnknown } = costs(limit)
      return isUnknown || bytes > maxSmallBytes
    },
    note,
    /** Notes that a page took too long, so that it leaves the pipelined connections. */
    noteSlow: (limit: number) => note(cheapBytes + 1, limit, { isAtLeast: true })
  }
}
