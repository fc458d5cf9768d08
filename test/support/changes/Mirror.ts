import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { seal } from "../../../src/jobs/Sealing.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { send } from "../requests/Requests.ts"
import { withoutAddresses } from "./World.ts"

/** Seals every change that is committed; the service seals concurrently. */
export const sealAll = Effect.flatMap(Sql, ({ pooled }) =>
  Effect.repeat(
    Effect.andThen(seal, pooled<{ readonly left: boolean }>`select exists (select from pending_changes) as left`),
    { until: ([row]) => !row!.left }
  )
).pipe(Effect.orDie)

/** What a delta has of one record. */
export interface Entry {
  readonly uuid: string
  readonly record?: Readonly<Record<string, unknown>>
  readonly deleted?: true
}

export interface DeltaPage {
  readonly data: ReadonlyArray<Entry>
  readonly cursor: string
  readonly more: boolean
}

/** A page of a delta. */
export const page = (
  resource: string,
  after = "",
  { key, limit = 100 }: { readonly key?: string; readonly limit?: number } = {}
) =>
  Effect.flatMap(
    send("GET", `/v1/${resource}/delta?limit=${limit}&after=${after}`, key === undefined ? {} : { key }),
    ({ body, status, text }) =>
      status === 200
        ? Effect.succeed(body as DeltaPage)
        : Effect.die(new Error(`${resource} answered ${status}: ${text}`))
  )

/** The pages of a delta to its end, in one. Each page has a record at most once. */
export const rest = Effect.fnUntraced(function* (
  resource: string,
  after = "",
  options: Parameters<typeof page>[2] = {}
) {
  const data: Array<Entry> = []
  let cursor = after
  for (let more = true; more;) {
    const next = yield* page(resource, cursor, options)
    assert.strictEqual(new Set(next.data.map(({ uuid }) => uuid)).size, next.data.length)
    data.push(...next.data)
    cursor = next.cursor
    more = next.more
  }
  return { data, cursor }
})

/** The end of a delta, with every change that is committed. */
export const end = (resource: string, key?: string) =>
  Effect.map(
    Effect.andThen(sealAll, rest(resource, "", { limit: 500, ...(key === undefined ? {} : { key }) })),
    ({ cursor }) => cursor
  )

/** The uuids that come again after a write, sorted. */
export const changedBy = <A, E, R>(resource: string, write: Effect.Effect<A, E, R>, key?: string) =>
  Effect.gen(function* () {
    const cursor = yield* end(resource, key)
    yield* write
    yield* sealAll
    const { data } = yield* rest(resource, cursor, key === undefined ? {} : { key })
    return data.map(({ uuid }) => uuid).toSorted()
  })

/** Every record of a list by uuid, without the signed addresses, which a mirror need not follow. */
export const listed = Effect.fnUntraced(function* (resource: string, key?: string) {
  const records = new Map<string, unknown>()
  const include = resource === "assets" ? "&include=categories,metaTags" : ""
  for (let page = 1, total = 1; (page - 1) * 500 < total; page++) {
    const path = `/v1/${resource}?limit=500&page=${page}&sortBy=createdAt&sortOrder=asc${include}`
    const { body } = yield* send("GET", path, key === undefined ? {} : { key })
    total = body.pagination.total
    for (const record of body.data) records.set(record.uuid, withoutAddresses(record))
  }
  return records
})

/** A copy of the records of a resource, as a client keeps it. */
export class Mirror {
  readonly records = new Map<string, unknown>()
  cursor = ""
  readonly resource: string
  readonly options: { readonly key?: string; readonly limit?: number }

  constructor(resource: string, options: { readonly key?: string; readonly limit?: number } = {}) {
    this.resource = resource
    this.options = options
  }

  /** Applies the next page, and returns whether there are more. */
  readonly step = Effect.suspend(() => page(this.resource, this.cursor, this.options)).pipe(
    Effect.map(({ cursor, data, more }) => {
      for (const { record, uuid } of data) {
        if (record === undefined) this.records.delete(uuid)
        else this.records.set(uuid, withoutAddresses(record))
      }
      this.cursor = cursor
      return more
    })
  )

  readonly toEnd = Effect.repeat(this.step, { until: (more) => !more })
}
