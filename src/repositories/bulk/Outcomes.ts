import { encodeApiError } from "../../domain/write/ApiError.ts"
import { NotAppliedError, type Outcome } from "../../domain/write/Bulk.ts"
import type { Written } from "../../domain/write/Written.ts"

/** The outcomes of the operations of a request, by their place in it. */
export interface Outcomes {
  readonly accept: (index: number, written: Written) => void
  /** Whether a failure is the answer of the operation; any other ends the request. */
  readonly reject: (index: number, failure: unknown) => boolean
  readonly all: () => ReadonlyArray<Outcome>
  /** Whether an operation changed its record. */
  readonly isChanged: (index: number) => boolean
}

export const make = (count: number, requestId: string): Outcomes => {
  const outcomes = Array.from({ length: count }, (_, index): Outcome => ({ index, status: 500 }))
  const changed = new Set<number>()
  return {
    accept: (index, { action, changed: isChanged, uuid }) => {
      if (isChanged) changed.add(index)
      outcomes[index] = { index, status: action === "created" ? 201 : 200, uuid }
    },
    reject: (index, failure) => {
      const encoded = encodeApiError(failure, requestId)
      if (encoded === undefined || encoded.status >= 500) return false
      outcomes[index] = { index, status: encoded.status, error: encoded.json }
      return true
    },
    all: () => outcomes,
    isChanged: (index) => changed.has(index)
  }
}

export const isFailed = ({ status }: Outcome): boolean => status >= 400

const notApplied = new NotAppliedError({
  message: "Another operation of this atomic request failed, so that none took effect"
})

/** The outcome of an operation of a request that was undone. */
export const undone =
  (requestId: string) =>
  (outcome: Outcome): Outcome => {
    if (isFailed(outcome)) return outcome
    const { json, status } = encodeApiError(notApplied, requestId)!
    return { index: outcome.index, status, error: json }
  }
