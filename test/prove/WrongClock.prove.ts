import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import type { Session } from "../http/UploadRequests.ts"
import type * as Process from "../support/Process.ts"
import { report } from "./figures.ts"
import { call, type Installation, install, stop } from "./Nodes.ts"

const day = 86_400_000

/** Has every `Date` of a process off by this long. */
const shifted = (milliseconds: number) => {
  const program =
    `const Real = Date; const now = () => Real.now() + ${milliseconds}; ` +
    "globalThis.Date = class Date extends Real { constructor(...args) { if (args.length === 0) super(now()); " +
    "else super(...args) } static now() { return now() } }"
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` }
}

/** What the process takes the time to be, from what it logged. */
const clockOf = (node: Process.Service) => Date.parse(/"timestamp":"([^"]+)"/.exec(node.output())![1]!)

describe("nodes whose clocks are a day slow and a day fast", () => {
  let installation: Installation
  let nodes: ReadonlyArray<Process.Service>
  beforeAll(async () => {
    installation = await install()
    nodes = [await installation.node(), await installation.node(shifted(-day)), await installation.node(shifted(day))]
  })
  afterAll(async () => {
    await stop(...nodes)
    await installation.close()
  })

  it("are really that wrong", () => {
    const offsets = nodes.map((node) => Math.round((clockOf(node) - Date.now()) / 3_600_000) + 0)
    assert.deepStrictEqual(offsets, [0, -24, 24])
  })

  it("create and edit records at the time of the database, and no edit is before its creation", async (context) => {
    const { key } = installation
    let worst = 0
    for (const [which, { url }] of nodes.entries()) {
      const created = await call(url, key, "POST", "/v1/locations", { name: "Clock", identifier: `clock-${which}` })
      assert.strictEqual(created.status, 201, JSON.stringify(created.body))
      const path = `/v1/locations/${created.body.data.uuid}`
      let last = 0
      for (const [turn, other] of [...nodes, ...nodes].entries()) {
        assert.strictEqual((await call(other.url, key, "PATCH", path, { name: `Turn ${turn}` })).status, 200)
        const { data } = (await call(url, key, "GET", path)).body as { data: { createdAt: string; editedAt: string } }
        worst = Math.max(worst, Math.abs(Date.parse(data.createdAt) - Date.now()))
        assert.isAtLeast(Date.parse(data.editedAt), Date.parse(data.createdAt))
        assert.isAtLeast(Date.parse(data.editedAt), last)
        last = Date.parse(data.editedAt)
      }
    }
    await report(context, { "createdAt off by ms": worst })
    assert.isBelow(worst, 20_000)
  })

  it("leave an open upload alone that was begun elsewhere, and end keys when the database says so", async () => {
    const { key } = installation
    const [right, slow, fast] = nodes as [Process.Service, Process.Service, Process.Service]
    const bytes = new Uint8Array(1000).fill(7)
    const begun = await call(right.url, key, "POST", "/v1/uploads/init-multi-part", {
      fileName: "clock.bin",
      fileSize: bytes.length
    })
    const session = begun.body.data as Session
    const left = Date.parse(session.expiresAt) - Date.now()
    assert.isAbove(left, 23 * 3_600_000)
    assert.isBelow(left, 25 * 3_600_000)
    // A node sweeps when it starts.
    const other = await installation.node(shifted(day))
    const sent = await fetch(session.parts[0]!.url, { method: "PUT", body: bytes })
    const parts = [{ partNumber: 1, eTag: sent.headers.get("etag") }]
    const completed = await call(right.url, key, "PUT", "/v1/uploads/complete-multi-part", {
      uuid: session.uuid,
      parts
    })
    await stop(other)
    assert.strictEqual(completed.status, 200, JSON.stringify(completed.body))

    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const made = await call(right.url, key, "POST", "/v1/api-keys", {
      name: "Hour",
      permissions: ["read:locations"],
      expiresAt
    })
    assert.strictEqual(made.status, 201, JSON.stringify(made.body))
    for (const { url } of [right, slow, fast]) {
      assert.strictEqual((await call(url, made.body.data.key, "GET", "/v1/locations")).status, 200)
    }
  })
})
