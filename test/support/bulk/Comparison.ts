import { Effect } from "effect"
import { databaseHash } from "../../threats/Corpus.ts"
import type { Random } from "../Random.ts"
import { type Answer, send, unique } from "../requests/Requests.ts"
import { type Operation, type Outcome, sendAlone } from "./Operations.ts"
import { Identities } from "./Identities.ts"
import type { Pair } from "./Pair.ts"
import * as Sequences from "./Sequences.ts"
import { comparer } from "./States.ts"

/** An outcome of a bulk request. */
interface Item extends Outcome {
  readonly index: number
}

/** How two values of one service differ. */
const within = (expected: unknown, actual: unknown, what: string) =>
  new Identities().differences(expected, actual, what)

const itemsOf = ({ body }: Answer): ReadonlyArray<Item> => body.data

/** What two requests with the same operations answer alike: all but the uuids of new records. */
const comparable = (answer: Answer) => [
  answer.status,
  answer.body.applied,
  answer.body.counts,
  itemsOf(answer).map(({ error, index, status }) => ({ index, status, error }))
]

/** Sends random sequences one by one to one service and in bulk to the other, and compares what they answer and leave. */
export const make = (pair: Pair, random: Random, longest: number) => {
  const { bulk, identities, single } = pair
  const sequences = Sequences.make(pair, random, longest)
  const { compared, differences } = comparer(pair)
  const statuses: Record<number, number> = {}
  const tally = { operations: 0, requests: 0, applied: 0, undone: 0, validated: 0, repeated: 0 }
  const maybe = (chance: number) => random() < chance

  const sendAll = (
    { operations, resource }: Sequences.Sequence,
    isAtomic: boolean,
    headers: Readonly<Record<string, string>> = {}
  ) => {
    const translated = operations.map((operation) => ({
      ...identities.translate(operation),
      ...("ifMatch" in operation ? { ifMatch: operation.ifMatch.there } : {})
    }))
    const body = { ...(isAtomic ? { mode: "atomic" } : {}), operations: translated }
    return bulk(send("POST", `/v1/${resource}/bulk`, { body, headers }))
  }

  /** How the rows differ after an effect that writes none. */
  const unchangedBy = <A, E>(what: string, effect: Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      const before = yield* bulk(databaseHash)
      const value = yield* effect
      return [value, within(before, yield* bulk(databaseHash), what)] as const
    })

  /** Sends the operations one by one, and returns how the first that differs does. */
  const compareAlone = Effect.fnUntraced(function* (
    { operations, resource }: Sequences.Sequence,
    items: ReadonlyArray<Item>
  ) {
    for (const [index, operation] of operations.entries()) {
      const alone = yield* single(sendAlone(resource, operation))
      const { index: place, ...item } = items[index]!
      if (alone.status === 201 && item.status === 201) identities.add(alone.uuid!, item.uuid!)
      sequences.note(resource, operation, alone)
      statuses[alone.status] = (statuses[alone.status] ?? 0) + 1
      const found = identities.differences({ ...alone, place: index }, { ...item, place })
      if (found.length > 0) return found.map((one) => `${resource} ${index} ${describe(operation)}${one}`)
    }
    return []
  })

  /** The answer of a request that takes effect, and how the answer differs from that of other requests. */
  const answered = Effect.fnUntraced(function* (sequence: Sequences.Sequence) {
    const { isAtomic } = sequence
    const found: Array<string> = []
    let validated: Answer | undefined
    if (maybe(0.1)) {
      tally.validated++
      const [answer, left] = yield* unchangedBy(
        "rows after validate-only",
        sendAll(sequence, isAtomic, { prefer: "validate-only" })
      )
      validated = answer
      found.push(...left)
    }
    const key = maybe(0.1) ? { "idempotency-key": unique("bulk") } : undefined
    const [first, changes] =
      isAtomic && key === undefined
        ? yield* unchangedBy("rows after an atomic request that failed", sendAll(sequence, isAtomic))
        : [yield* sendAll(sequence, isAtomic, key), []]
    if (first.status !== 200) return { first, found: [`${sequence.resource} answered ${first.status}: ${first.text}`] }
    if (!first.body.applied) found.push(...changes)
    if (validated !== undefined) {
      found.push(...within(comparable(first), comparable(validated), "validate-only"))
    }
    if (key !== undefined) {
      tally.repeated++
      const [again, left] = yield* unchangedBy("rows after a repetition", sendAll(sequence, isAtomic, key))
      const isReplayed = again.headers.get("idempotent-replayed")
      found.push(...left, ...within([first.text, "true"], [again.text, isReplayed], "repetition"))
    }
    return { first, found }
  })

  /** One sequence; returns how the services differ. */
  const step = Effect.gen(function* () {
    const sequence = yield* sequences.next
    tally.operations += sequence.operations.length
    tally.requests++
    const { first, found } = yield* answered(sequence)
    if (first.status !== 200) return found
    found.push(...within(countsOf(itemsOf(first)), first.body.counts, "counts"))
    if (first.body.applied) {
      if (sequence.isAtomic) tally.applied++
      return [...found, ...(yield* compareAlone(sequence, itemsOf(first)))]
    }
    // Independent operations answer what those that were undone would have.
    tally.undone++
    const independent = itemsOf(yield* sendAll(sequence, false))
    const expected = independent.map(({ error, index, status }) =>
      status < 400 ? { index, status: 424, tag: "NotAppliedError" } : { index, status, tag: error!["_tag"], error }
    )
    const actual = itemsOf(first).map(({ error, index, status }) =>
      status === 424 ? { index, status, tag: error!["_tag"] } : { index, status, tag: error!["_tag"], error }
    )
    found.push(...within(expected, actual, "atomic"))
    return [...found, ...(yield* compareAlone(sequence, independent))]
  })

  return { compared, differences, statuses, step, tally }
}

const describe = (operation: Operation) => `${JSON.stringify(operation)} `

const countsOf = (items: ReadonlyArray<Item>) => {
  const counts: Record<number, number> = {}
  for (const { status } of items) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
