import { assert, describe, it } from "vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { install } from "../support/Nodes.ts"
import { report } from "../support/proofs/Figures.ts"
import * as Receiver from "../support/Receiver.ts"
import type { Service } from "../support/Service.ts"
import { until } from "../support/Until.ts"

const settings = { WEBHOOK_ALLOW_HTTP: "true", WEBHOOK_ALLOW_PRIVATE: "true" }
const begin = "2026-01-01T00:00:00.000Z"

/** Creates locations over several connections, and returns their uuids. */
const createMany = async ({ create }: Service, count: number, writers = 8) => {
  const uuids: Array<string> = []
  let next = 0
  const write = async () => {
    for (let index = next++; index < count; index = next++) {
      uuids.push(
        await create("/v1/locations", { name: `Branch ${index}`, identifier: `W-${process.pid}-${Math.random()}` })
      )
    }
  }
  await Promise.all(Array.from({ length: writers }, write))
  return uuids
}

const uuidsOf = ({ received }: Receiver.Receiver) => received.map(({ json }): string => json.data.record.uuid)

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

describe("webhooks", () => {
  it("a receiver on the same machine gets 500 events a second, half of them within 250 ms of their commit", async (ctx) => {
    await using installation = await install()
    await using receiver = await Receiver.start()
    const node = await installation.node(settings)
    const count = 3000
    await createMany(node, count)
    await until("all events are sealed", async () => {
      const [row] = await installation.sql.unsafe("select not exists (select from pending_changes) as sealed")
      return row!["sealed"] === true
    })
    const webhook = await node.create("/v1/webhooks", { url: receiver.url, types: ["location.*"] })
    const { body, status } = await node.call("POST", `/v1/webhooks/${webhook}/replay`, { since: begin })
    assert.deepStrictEqual([status, body.data.events >= count], [202, true])
    await until("all events were replayed", () => receiver.received.length >= count)
    const seconds = (receiver.received[count - 1]!.at - receiver.received[0]!.at) / 1000
    receiver.received.length = 0

    const written = new Map<string, number>()
    for (let index = 0; index < 100; index++) {
      const [uuid] = await createMany(node, 1)
      written.set(uuid!, performance.now())
      await sleep(20)
    }
    await until("all new events arrived", () => receiver.received.length >= 100)
    const delays = receiver.received.map(({ at, json }) => at - written.get(json.data.record.uuid)!)
    await report(ctx, { "deliveries/s": (count - 1) / seconds, "p50 ms from commit to arrival": median(delays) })
    assert.isAtLeast((count - 1) / seconds, 500)
    assert.isAtMost(median(delays), 250)
  })

  it("two processes share deliveries, and none is lost when one of them is killed", async (ctx) => {
    await using installation = await install()
    await using receiver = await Receiver.start()
    const kept = await installation.node(settings)
    receiver.answer = (_, response) => void setTimeout(() => response.writeHead(204).end(), 20)
    await kept.create("/v1/webhooks", { url: receiver.url, types: ["location.created"] })
    const written: Array<string> = []
    const kills = 3
    for (let kill = 0; kill < kills; kill++) {
      const other = await installation.node(settings)
      const writing = createMany(kept, 400)
      await until("deliveries are made", () => receiver.received.length >= written.length + 50)
      process.kill(other.pid, "SIGKILL")
      await other.exited
      written.push(...(await writing))
    }
    const { sql } = installation
    await until("nothing is queued", async () => {
      const [row] = await sql.unsafe("select count(*)::int as count from webhook_queue")
      return row!["count"] === 0 && receiver.received.length >= written.length
    })
    const got = uuidsOf(receiver)
    const lost = written.filter((uuid) => !got.includes(uuid))
    await report(ctx, { events: written.length, kills, lost: lost.length, repeated: got.length - new Set(got).size })
    assert.deepStrictEqual(lost, [])
  })
})
