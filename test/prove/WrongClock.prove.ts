import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { type IncomingMessage, request } from "node:http"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Session } from "../support/requests/UploadRequests.ts"
import { callTo, type Service } from "../support/Service.ts"
import { until } from "../support/Until.ts"
import { report } from "../support/proofs/Figures.ts"
import { nodesOfSuite } from "../support/Nodes.ts"

const day = 86_400_000

/** Shifts the clock of a process by some milliseconds. */
const shifted = (milliseconds: number) => {
  const program =
    `const Real = Date; const now = () => Real.now() + ${milliseconds}; ` +
    "globalThis.Date = class Date extends Real { constructor(...args) { if (args.length === 0) super(now()); " +
    "else super(...args) } static now() { return now() } }"
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` }
}

/** The current time according to the log of the process. */
const clockOf = (node: Service) => Date.parse(/"timestamp":"([^"]+)"/.exec(node.output())![1]!)

describe("nodes with wrong clocks", () => {
  const { installation, nodes } = nodesOfSuite([{}, shifted(-day), shifted(day)])

  it("the clocks of the nodes are a day slow and a day fast", () => {
    const offsets = nodes.map((node) => Math.round((clockOf(node) - Date.now()) / 3_600_000) + 0)
    assert.deepStrictEqual(offsets, [0, -24, 24])
  })

  it("createdAt and editedAt are times of the database, and editedAt is never before createdAt", async (context) => {
    let worst = 0
    for (const [which, { call }] of nodes.entries()) {
      const created = await call("POST", "/v1/locations", { name: "Clock", identifier: `clock-${which}` })
      assert.strictEqual(created.status, 201, JSON.stringify(created.body))
      const path = `/v1/locations/${created.body.data.uuid}`
      let last = 0
      for (const [turn, other] of [...nodes, ...nodes].entries()) {
        assert.strictEqual((await other.call("PATCH", path, { name: `Turn ${turn}` })).status, 200)
        const { data } = (await call("GET", path)).body as { data: { createdAt: string; editedAt: string } }
        worst = Math.max(worst, Math.abs(Date.parse(data.createdAt) - Date.now()))
        assert.isAtLeast(Date.parse(data.editedAt), Date.parse(data.createdAt))
        assert.isAtLeast(Date.parse(data.editedAt), last)
        last = Date.parse(data.editedAt)
      }
    }
    await report(context, { "createdAt off by ms": worst })
    assert.isBelow(worst, 20_000)
  })

  it("a node with a fast clock does not remove a part that is being received", async (context) => {
    const right = nodes[0]!
    const bytes = Buffer.alloc(100_000, 7)
    const begun = await right.call("POST", "/v1/uploads/init-multi-part", {
      fileName: "clock.bin",
      fileSize: bytes.length
    })
    const session = begun.body.data as Session
    const left = Date.parse(session.expiresAt) - Date.now()
    assert.isAbove(left, 23 * 3_600_000)
    assert.isBelow(left, 25 * 3_600_000)
    const part = request(session.parts[0]!.url, { method: "PUT", headers: { "content-length": bytes.length } })
    part.write(bytes.subarray(0, 50_000))
    const temporary = join(installation().folder, "files", "temporary")
    const half = () => readdirSync(temporary).some((name) => statSync(join(temporary, name)).size === 50_000)
    await until("half of the part is stored", half)
    // A leftover file that is older than an hour.
    const stale = join(temporary, "stale")
    writeFileSync(stale, "left over")
    const hours = (count: number) => Date.now() / 1000 - count * 3600
    utimesSync(stale, hours(2), hours(2))
    // So far ahead that by its clock the upload itself has expired, too.
    const other = await installation().node(shifted(3 * day))
    await until("the new node has swept", () => !existsSync(stale))
    await sleep(1000)
    const stays = half()
    part.end(bytes.subarray(50_000))
    const [sent] = (await once(part, "response")) as [IncomingMessage]
    const parts = [{ partNumber: 1, eTag: sent.headers.etag }]
    const completed = await right.call("PUT", "/v1/uploads/complete-multi-part", {
      uuid: session.uuid,
      parts
    })
    await other.stop()
    await report(context, { "live parts swept": stays ? 0 : 1 })
    assert.isTrue(stays)
    assert.strictEqual(sent.statusCode, 200)
    assert.strictEqual(completed.status, 200, JSON.stringify(completed.body))
  })

  it("nodes accept keys until the database considers them expired", async () => {
    const make = async (millis: number) => {
      const expiresAt = new Date(Date.now() + millis).toISOString()
      const body = { name: "Short", permissions: ["read:locations"], expiresAt }
      const made = await nodes[0]!.call("POST", "/v1/api-keys", body)
      assert.strictEqual(made.status, 201, JSON.stringify(made.body))
      return made.body.data.key as string
    }
    const statuses = (made: string) =>
      Promise.all(nodes.map(async ({ url }) => (await callTo(url, made)("GET", "/v1/locations")).status))
    const short = await make(5000)
    assert.deepStrictEqual(await statuses(short), [200, 200, 200])
    assert.deepStrictEqual(await statuses(await make(3_600_000)), [200, 200, 200])
    // A node may cache a key for a second.
    await sleep(6500)
    assert.deepStrictEqual(await statuses(short), [401, 401, 401])
  })
})
