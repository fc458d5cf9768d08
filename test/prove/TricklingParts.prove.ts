import { assert, describe, it } from "vitest"
import { randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { percentilesOf } from "../support/LoadClients.ts"
import { report } from "../support/proofs/Figures.ts"
import { assertUnharmed, besideAttack, figures, keyWith } from "../support/proofs/Neighbours.ts"
import * as Running from "../support/proofs/Running.ts"
import { converse, head } from "../support/proofs/Sockets.ts"
import { callTo } from "../support/Service.ts"
import { mebibyte, type Session } from "../support/requests/UploadRequests.ts"

const connections = 600
const seconds = 15
const part = randomBytes(8 * mebibyte)

const begin = async ({ url }: Running.Running, key: string, fileSize: number) =>
  (await callTo(url, key)("POST", "/v1/uploads/init-multi-part", { fileName: "file.bin", fileSize })).body
    .data as Session

/** Sends the same part again and again for a time; returns the median of the milliseconds of one. */
const sendParts = async (url: string, millis: number) => {
  const times: Array<number> = []
  for (const until = performance.now() + millis; performance.now() < until;) {
    const began = performance.now()
    const response = await fetch(url, { method: "PUT", body: part })
    await response.arrayBuffer()
    assert.strictEqual(response.status, 200)
    times.push(performance.now() - began)
  }
  return percentilesOf(times).p50
}

describe("parts of one key that trickle", () => {
  it(`${connections} parts of one key that arrive at 2 KiB a second leave other keys the rate of theirs`, async (ctx) => {
    await using running = await Running.start()
    await Running.locations(running.sql, 1000)
    const [attacker, other] = [await keyWith(running, "create:uploads"), await keyWith(running, "create:uploads")]
    const sessions = await Promise.all(Array.from({ length: 20 }, () => begin(running, attacker, part.length)))
    const own = (await begin(running, other, part.length)).parts[0]!.url
    const calm = await sendParts(own, 5000)
    const statuses = new Map<string, number>()
    const { alone, during, result } = await besideAttack(running, async () => {
      const trickling = Array.from({ length: connections }, async (_, index) => {
        const { pathname, search } = new URL(sessions[index % sessions.length]!.parts[0]!.url)
        const until = performance.now() + seconds * 1000
        const { text } = await converse(running.url, async (socket, heard) => {
          socket.write(head("PUT", `${pathname}${search}`, "", `Content-Length: ${part.length}`))
          while (performance.now() < until && !socket.destroyed && heard() === "") {
            socket.write(part.subarray(0, 2048))
            await sleep(1000)
          }
          socket.destroy()
        })
        const status = text.slice(9, 12) || "none"
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      })
      await sleep(2000)
      const contended = await sendParts(own, (seconds - 4) * 1000)
      await Promise.all(trickling)
      return contended
    })
    await report(ctx, {
      ...figures(alone, during),
      "part alone ms": calm,
      "part during ms": result,
      attacker: [...statuses].map(([status, count]) => `${count}x${status}`).join(" ")
    })
    assertUnharmed(during, { read: 250, write: 400 })
    assert.isAtMost(result, calm * 1.5)
  })
})
