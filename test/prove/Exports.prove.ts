import { createReadStream } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { assert, describe, it } from "vitest"
import { start } from "../support/cli/Command.ts"
import { report } from "../support/proofs/Figures.ts"
import * as Running from "../support/proofs/Running.ts"
import { randomOf } from "../support/Random.ts"
import type { Call } from "../support/Service.ts"

const records = Number(process.env["EXPORT_RECORDS"] ?? 20_000)
const writers = 4

/** The orders in which the list is walked besides that of the export; most records share their city with others. */
const orders = ["sortBy=name&sortOrder=desc", "sortBy=address.city&sortOrder=asc"]

interface Written {
  readonly deleted: Set<string>
  created: number
  changed: number
}

/** Creates, changes and deletes records until it is aborted. What the lists are sorted by is not changed. */
const write = async (call: Call, uuids: ReadonlyArray<string>, seed: number, written: Written, signal: AbortSignal) => {
  const random = randomOf(seed)
  for (let count = 0; !signal.aborted; count++) {
    const uuid = uuids[Math.floor(random() * uuids.length)]!
    const path = `/v1/locations/${uuid}`
    const kind = count % 3
    if (kind === 0) {
      const identifier = `new-${seed}-${count}`
      const body = { name: `Nieuwe bakkerij ${random()}`, identifier, address: { city: "Utrecht" } }
      assert.strictEqual((await call("POST", "/v1/locations", body)).status, 201)
      written.created++
    } else if (written.deleted.has(uuid)) {
      continue
    } else if (kind === 1) {
      // Before the request: from then on the record may be missing.
      written.deleted.add(uuid)
      assert.strictEqual((await call("DELETE", path)).status, 200)
    } else {
      const { status } = await call("PATCH", path, { contact: { phone: `+31 30 ${1_000_000 + count}` } })
      // Another writer may have deleted it since.
      assert.include([200, 404], status)
      written.changed++
    }
  }
}

/** The uuids of a list by its cursors. */
const walk = async (call: Call, order: string) => {
  const uuids: Array<string> = []
  for (let after: string | undefined = ""; after !== undefined;) {
    const { body, status, text } = await call("GET", `/v1/locations?${order}&limit=500&fields=uuid&after=${after}`)
    assert.strictEqual(status, 200, text)
    uuids.push(...body.data.map(({ uuid }: { readonly uuid: string }) => uuid))
    after = body.pagination.next
  }
  return uuids
}

const exported = async (url: string, folder: string) => {
  const file = join(folder, "locations.ndjson")
  const { result } = start(["export", "locations", file], { WAYPOST_URL: url, WAYPOST_API_KEY: Running.key })
  const { code, err } = await result
  assert.strictEqual(code, 0, err)
  const uuids: Array<string> = []
  for await (const line of createInterface({ input: createReadStream(file) })) {
    uuids.push((JSON.parse(line) as { readonly uuid: string }).uuid)
  }
  return uuids
}

/** Runs a read while writers write; returns what it read, what stayed until it ended, and its seconds. */
const duringWrites = async (
  { call, sql }: Running.Running,
  seed: number,
  read: () => Promise<ReadonlyArray<string>>
) => {
  const before = (await sql<Array<{ readonly uuid: string }>>`select uuid from locations`).map(({ uuid }) => uuid)
  const written: Written = { deleted: new Set(), created: 0, changed: 0 }
  const stop = new AbortController()
  const writing = Promise.all(
    Array.from({ length: writers }, (_, writer) => write(call, before, seed + writer, written, stop.signal))
  )
  const began = performance.now()
  const found = await Promise.race([read(), writing.then(() => Promise.reject(new Error("The writers ended")))])
  const seconds = (performance.now() - began) / 1000
  stop.abort()
  await writing
  return { found, stayed: before.filter((uuid) => !written.deleted.has(uuid)), written, seconds }
}

describe("reading a whole list by cursors", () => {
  it("an export and walks in other orders miss no record that stays, and have none twice, while others write and delete", async (ctx) => {
    await using running = await Running.start()
    await Running.locations(running.sql, records)
    const reads = [
      () => exported(running.url, running.service.folder),
      ...orders.map((order) => () => walk(running.call, order))
    ]
    const total = { created: 0, changed: 0, deleted: 0, missed: 0, twice: 0 }
    const seconds: Array<number> = []
    for (const [index, read] of reads.entries()) {
      const { found, seconds: taken, stayed, written } = await duringWrites(running, 100 * index, read)
      const seen = new Set(found)
      total.created += written.created
      total.changed += written.changed
      total.deleted += written.deleted.size
      total.missed += stayed.filter((uuid) => !seen.has(uuid)).length
      total.twice += found.length - seen.size
      seconds.push(taken)
    }
    await report(ctx, {
      records,
      "export s": seconds[0]!,
      "walk s": Math.max(...seconds.slice(1)),
      ...total
    })
    assert.deepStrictEqual([total.missed, total.twice], [0, 0])
    assert.isAtLeast(Math.min(total.created, total.changed, total.deleted), 50)
  }, 3_600_000)
})
