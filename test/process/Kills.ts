import { assert } from "@effect/vitest"
import * as ApiKeySecret from "../../src/domain/ApiKeySecret.ts"
import * as Process from "../support/Process.ts"

const key = ApiKeySecret.format(new Uint8Array(16).fill(3), new Uint8Array(32).fill(5)).key
const headers = { authorization: key, "content-type": "application/json" }

interface Page {
  readonly data: ReadonlyArray<{ readonly identifier: string }>
  readonly pagination: { readonly total: number; readonly pageCount: number }
}

const everyIdentifier = async (url: string) => {
  const identifiers: Array<string> = []
  let total = 0
  for (let page = 1, pages = 1; page <= pages; page++) {
    const response = await fetch(`${url}/v1/locations?limit=500&page=${page}&sortBy=identifier`, { headers })
    const { data, pagination } = (await response.json()) as Page
    pages = pagination.pageCount
    total = pagination.total
    identifiers.push(...data.map(({ identifier }) => identifier))
  }
  return { identifiers, total }
}

export interface Survived {
  readonly acknowledged: ReadonlyArray<string>
  readonly stored: ReadonlyArray<string>
  /** What the list says there is. */
  readonly total: number
  /** Milliseconds of every start after a kill. */
  readonly restarts: ReadonlyArray<number>
}

export interface Plan {
  readonly kills: number
  readonly writers: number
  /** Resolves when it is time to kill; told how many writes this round has acknowledged. */
  readonly time: (acknowledged: () => number) => Promise<void>
}

/** Writers that create locations while the service is killed and started again, and what is there in the end. */
export const survive = async (folder: string, { kills, time, writers }: Plan): Promise<Survived> => {
  const acknowledged: Array<string> = []
  const restarts: Array<number> = []
  let written = 0
  for (let round = 0; round < kills; round++) {
    const service = await Process.start({ DATA_DIR: folder, BOOTSTRAP_API_KEY: key })
    if (round > 0) restarts.push(service.startMillis)
    const before = acknowledged.length
    const write = async () => {
      for (;;) {
        const identifier = `durable-${written++}`
        const body = JSON.stringify({ name: "Durable", identifier })
        const response = await fetch(`${service.url}/v1/locations`, { method: "POST", headers, body }).catch(
          () => undefined
        )
        if (response === undefined) return
        if (response.status === 201) acknowledged.push(identifier)
      }
    }
    const writing = Promise.all(Array.from({ length: writers }, write))
    await time(() => acknowledged.length - before)
    service.process.kill("SIGKILL")
    await Promise.all([writing, service.exited])
  }
  const service = await Process.start({ DATA_DIR: folder, BOOTSTRAP_API_KEY: key })
  restarts.push(service.startMillis)
  const { identifiers, total } = await everyIdentifier(service.url)
  service.process.kill("SIGTERM")
  await service.exited
  return { acknowledged, stored: identifiers, total, restarts }
}

export const lostOf = ({ acknowledged, stored }: Survived) => {
  const kept = new Set(stored)
  return acknowledged.filter((identifier) => !kept.has(identifier))
}

/** Nothing lost, nothing there twice, and totals that are exact. */
export const assertWhole = (survived: Survived, { kills, writers }: Pick<Plan, "kills" | "writers">) => {
  const { acknowledged, stored, total } = survived
  assert.deepStrictEqual(lostOf(survived), [])
  assert.strictEqual(new Set(stored).size, stored.length)
  // What was committed but not yet acknowledged may be there: at most one write of each writer and kill.
  assert.isAtMost(stored.length - acknowledged.length, writers * kills)
  assert.strictEqual(total, stored.length)
}
