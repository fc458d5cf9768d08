import { assert } from "@effect/vitest"
import * as Service from "./Service.ts"

interface Page {
  readonly data: ReadonlyArray<{ readonly identifier: string }>
  readonly pagination: { readonly total: number; readonly pageCount: number }
}

const everyIdentifier = async ({ call }: Service.Service) => {
  const identifiers: Array<string> = []
  let total = 0
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { body } = await call("GET", `/v1/locations?limit=500&page=${page}&sortBy=identifier`)
    const { data, pagination } = body as Page
    pages = pagination.pageCount
    total = pagination.total
    identifiers.push(...data.map(({ identifier }) => identifier))
  }
  return { identifiers, total }
}

export interface Survived {
  readonly acknowledged: ReadonlyArray<string>
  readonly stored: ReadonlyArray<string>
  /** The total of the list. */
  readonly total: number
  /** Responses other than 201. */
  readonly rejected: ReadonlyArray<string>
  /** Milliseconds that each start after a kill took. */
  readonly restarts: ReadonlyArray<number>
}

export interface Plan {
  readonly kills: number
  readonly writers: number
  /** Inspects the data at the end, before the service stops. */
  readonly inspect?: () => Promise<void>
  /** Resolves when it is time to kill; gets the number of writes acknowledged in this round. */
  readonly time: (acknowledged: () => number) => Promise<void>
}

/** Runs writers that create locations while the service is killed and restarted; returns what was acknowledged and stored. */
export const survive = async (folder: string, { inspect, kills, time, writers }: Plan): Promise<Survived> => {
  const acknowledged: Array<string> = []
  const rejected: Array<string> = []
  const restarts: Array<number> = []
  let written = 0
  for (let round = 0; round < kills; round++) {
    await using service = await Service.start({}, { folder })
    if (round > 0) restarts.push(service.startMillis)
    const before = acknowledged.length
    const write = async () => {
      for (;;) {
        const identifier = `durable-${written++}`
        const answer = await service
          .call("POST", "/v1/locations", { name: "Durable", identifier })
          .catch(() => undefined)
        if (answer === undefined) return
        if (answer.status === 201) acknowledged.push(identifier)
        else rejected.push(`${answer.status} ${answer.text}`)
      }
    }
    const writing = Promise.all(Array.from({ length: writers }, write))
    await time(() => acknowledged.length - before)
    service.process.kill("SIGKILL")
    await Promise.all([writing, service.exited])
  }
  await using service = await Service.start({}, { folder })
  restarts.push(service.startMillis)
  const { identifiers, total } = await everyIdentifier(service)
  await inspect?.()
  return { acknowledged, rejected, stored: identifiers, total, restarts }
}

export const lostOf = ({ acknowledged, stored }: Survived) => {
  const kept = new Set(stored)
  return acknowledged.filter((identifier) => !kept.has(identifier))
}

/** Asserts that no write is lost or duplicated, and that the total is exact. */
export const assertWhole = (survived: Survived, { kills, writers }: Pick<Plan, "kills" | "writers">) => {
  const { acknowledged, rejected, stored, total } = survived
  assert.deepStrictEqual(rejected, [])
  assert.deepStrictEqual(lostOf(survived), [])
  assert.strictEqual(new Set(stored).size, stored.length)
  // Committed but unacknowledged writes may be stored: at most one per writer and kill.
  assert.isAtMost(stored.length - acknowledged.length, writers * kills)
  assert.strictEqual(total, stored.length)
}
