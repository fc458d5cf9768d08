import { assert, describe, it } from "@effect/vitest"
import { afterAll } from "vitest"
import * as ApiKeySecret from "../../src/domain/ApiKeySecret.ts"
import * as Process from "../support/Process.ts"

const { folder, remove } = Process.dataFolder()
afterAll(remove)

const key = ApiKeySecret.format(new Uint8Array(16).fill(3), new Uint8Array(32).fill(5)).key
const headers = { authorization: key, "content-type": "application/json" }
const kills = 3
const writers = 8

interface Page {
  readonly data: ReadonlyArray<{ readonly identifier: string }>
  readonly pagination: { readonly total: number; readonly pageCount: number }
}

const everyIdentifier = async (url: string) => {
  const identifiers: Array<string> = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const response = await fetch(`${url}/v1/locations?limit=500&page=${page}&sortBy=identifier`, { headers })
    const { data, pagination } = (await response.json()) as Page
    pages = pagination.pageCount
    identifiers.push(...data.map(({ identifier }) => identifier))
    if (page === 1) assert.isAtLeast(pagination.total, 1)
  }
  return identifiers
}

describe("kill -9 during writes", () => {
  it(
    "nothing that was acknowledged is lost, nothing is there twice, and totals stay exact",
    { timeout: 90_000 },
    async () => {
      const acknowledged: Array<string> = []
      let written = 0
      for (let round = 0; round < kills; round++) {
        const service = await Process.start({ DATA_DIR: folder, BOOTSTRAP_API_KEY: key })
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
        // Killed while it is writing, not before.
        while (acknowledged.length < before + 50) await new Promise((resolve) => setTimeout(resolve, 20))
        service.process.kill("SIGKILL")
        await Promise.all([writing, service.exited])
      }

      const service = await Process.start({ DATA_DIR: folder, BOOTSTRAP_API_KEY: key })
      const stored = await everyIdentifier(service.url)
      const total = await fetch(`${service.url}/v1/locations?limit=1`, { headers }).then((response) => response.json())
      service.process.kill("SIGTERM")
      await service.exited

      const kept = new Set(stored)
      assert.deepStrictEqual(
        acknowledged.filter((identifier) => !kept.has(identifier)),
        []
      )
      assert.strictEqual(kept.size, stored.length)
      // What was committed but not yet acknowledged may be there: at most one write of each writer and kill.
      assert.isAtMost(stored.length - acknowledged.length, writers * kills)
      assert.strictEqual((total as Page).pagination.total, stored.length)
      assert.isAtLeast(acknowledged.length, kills * 50)
    }
  )
})
