import assert from "node:assert/strict"
import { answerOf, type Case, type Side } from "./cases.ts"
import { type List, lists, pathAt } from "./lists.ts"

/** Records per answer of a walk, the most there are. */
const perAnswer = 500

/** The default size of a page. */
const limit = 25

/** A page at any place of a list costs as much as its first one. */
const asFirst = { time: 1.3 }

/** Selected members cost no more time than whole records. */
const asWhole = { time: 1.1, bytes: 0.5 }

type Order = Readonly<Record<"sortBy" | "sortOrder", string>>

interface Walked {
  readonly data: ReadonlyArray<{ readonly uuid: string }>
  readonly pagination: { readonly total?: number; readonly next?: string }
}

const queryOf = (parameters: Readonly<Record<string, string | number>>) =>
  new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)])
  ).toString()

/** Walks a whole list, and returns the cursors at its middle and before its last page. Every record is answered once. */
const cursorsOf = async (side: Side, path: string, order: Order) => {
  const ask = async (parameters: Readonly<Record<string, string | number>>) =>
    (await answerOf(side, `${path}?${queryOf({ ...order, fields: "uuid", ...parameters })}`)) as Walked
  const { pagination } = await ask({ limit: 1 })
  const total = pagination.total!
  const seen = new Set<string>()
  let answered = 0
  let middle = ""
  let last = ""
  for (let after: string | undefined = ""; after !== undefined;) {
    if (answered <= total / 2) middle = after
    last = after
    const left = total - limit - answered
    const answer = await ask({ after, limit: left > 0 ? Math.min(left, perAnswer) : limit })
    for (const { uuid } of answer.data) seen.add(uuid)
    answered += answer.data.length
    after = answer.pagination.next
  }
  assert.deepEqual(
    { answered, distinct: seen.size },
    { answered: total, distinct: total },
    `${path} ${queryOf({ ...order })}`
  )
  return { middle, last }
}

const newestFirst = { sortBy: "createdAt", sortOrder: "desc" }

/** The orders in which a list is walked: all of a whole resource, and one of the records that belong to another one. */
const ordersOf = ({ path, sortable }: List): ReadonlyArray<Order> =>
  path.includes("/:uuid")
    ? [sortable.includes(newestFirst.sortBy) ? newestFirst : { sortBy: sortable[0]!, sortOrder: "asc" }]
    : sortable.flatMap((sortBy) => ["asc", "desc"].map((sortOrder) => ({ sortBy, sortOrder })))

/** The middle and last page of every list by cursor, compared with its first one. */
export const cursorCases = async (side: Side): Promise<ReadonlyArray<Case>> => {
  const cases: Array<Case> = []
  for (const list of lists()) {
    const path = await pathAt(side, list)
    for (const order of path === undefined ? [] : ordersOf(list)) {
      const page = (after: string) => [`${path!}?${queryOf({ ...order, limit, after })}`]
      const cursors = await cursorsOf(side, path!, order)
      for (const [place, after] of Object.entries(cursors)) {
        cases.push({
          kind: "cursor",
          name: `${list.path} by ${order.sortBy} ${order.sortOrder}, ${place} page`,
          paths: page(after),
          against: { paths: page(""), ...asFirst }
        })
      }
    }
  }
  return cases
}

/** The member that says what a record is: its name, or else the first one that it has of those it can be sorted by. */
const labelOf = ({ sortable }: List, record: Readonly<Record<string, unknown>>) => {
  const [translation = {}] = (record["translations"] ?? []) as ReadonlyArray<object>
  const named = ["name", ...sortable]
  const within = named.find((name) => name in translation)
  return named.find((name) => name in record) ?? (within === undefined ? "uuid" : `translations.${within}`)
}

/** The uuid and name of the records of every list, compared with the whole records. */
export const selectionCases = async (side: Side): Promise<ReadonlyArray<Case>> => {
  const cases: Array<Case> = []
  for (const list of lists()) {
    const path = await pathAt(side, list)
    if (path === undefined) continue
    const [record] = (await answerOf(side, `${path}?limit=1`)).data
    if (record === undefined) continue
    const fields = ["uuid", labelOf(list, record)].join(",")
    cases.push({
      kind: "selection",
      name: `${list.path} with fields=${fields}`,
      paths: [`${path}?${queryOf({ fields })}`],
      against: { paths: [path], ...asWhole }
    })
  }
  return cases
}
