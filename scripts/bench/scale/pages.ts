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

interface Page {
  readonly data: ReadonlyArray<Json>
  readonly pagination: { readonly total?: number; readonly next?: string }
}

type Json = Readonly<Record<string, unknown>>

const queryOf = (parameters: Readonly<Record<string, string | number>>) =>
  new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)])
  ).toString()

const ask = async (side: Side, path: string, parameters: Readonly<Record<string, string | number>>) =>
  (await answerOf(side, `${path}?${queryOf(parameters)}`)) as Page

const uuidsOf = ({ data }: Page) => data.map(({ uuid }) => uuid)

/** The value by which a record is sorted, undefined where it has none. */
const valueAt = (record: Json | undefined, path: string): unknown =>
  path.split(".").reduce<unknown>((value, name) => (value as Json | undefined)?.[name], record)

/** The cursor behind so many records, read from cursor to cursor. */
const walkTo = async (side: Side, path: string, order: Order, position: number) => {
  let after = ""
  for (let read = 0; read < position;) {
    const limit = Math.min(perAnswer, position - read)
    const { pagination } = await ask(side, path, { ...order, fields: "uuid", limit, after })
    after = pagination.next!
    read += limit
  }
  return after
}

/**
 * The cursor behind so many records. Of a long list, another cursor gets the place of the record there: a cursor has the mark of its
 * list, and the sort value and the uuid of a record.
 */
const cursorAt = async (side: Side, path: string, order: Order, position: number) => {
  if (position === 0) return ""
  const first = await ask(side, path, { ...order, limit: 1, after: "" })
  const isMember = valueAt(first.data[0], order.sortBy) !== undefined
  if (!isMember || position <= perAnswer) return walkTo(side, path, order, position)
  const [mark] = JSON.parse(Buffer.from(first.pagination.next!, "base64url").toString()) as ReadonlyArray<string>
  const [record] = (await ask(side, path, { ...order, limit: 1, page: position })).data
  const value = valueAt(record, order.sortBy) as string | number | undefined
  const place = [mark, value === undefined ? null : String(value), record!["uuid"]]
  return Buffer.from(JSON.stringify(place)).toString("base64url")
}

/** The cursors of the page in the middle and of the last one, which have the records of the numbered pages. */
const cursorsOf = async (side: Side, path: string, order: Order) => {
  const { pagination } = await ask(side, path, { ...order, limit: 1 })
  const total = pagination.total!
  const pages = { middle: Math.floor(total / limit / 2), last: Math.max(0, Math.ceil(total / limit) - 1) }
  const cursors: Array<readonly [place: string, after: string]> = []
  for (const [place, before] of Object.entries(pages)) {
    const after = await cursorAt(side, path, order, before * limit)
    const numbered = await ask(side, path, { ...order, limit, page: before + 1 })
    assert.deepEqual(uuidsOf(await ask(side, path, { ...order, limit, after })), uuidsOf(numbered), `${path} ${place}`)
    cursors.push([place, after])
  }
  return cursors
}

const newestFirst = { sortBy: "createdAt", sortOrder: "desc" }

/** The orders of a list: all of a whole resource, and one of the records that belong to another one. */
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
      for (const [place, after] of cursors) {
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
const labelOf = ({ sortable }: List, record: Json) => {
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
