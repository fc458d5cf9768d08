import { assert, describe, it } from "vitest"
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { fileURLToPath } from "node:url"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { percentilesOf } from "../support/LoadClients.ts"
import { report } from "../support/proofs/Figures.ts"
import { keyWith } from "../support/proofs/Neighbours.ts"
import * as Running from "../support/proofs/Running.ts"
import { mebibyte, type Session } from "../support/requests/UploadRequests.ts"
import { callTo } from "../support/Service.ts"

const connections = 600
const seconds = 15
const part = randomBytes(8 * mebibyte)
const program = fileURLToPath(new URL("../support/proofs/TrickleProcess.ts", import.meta.url))

const begin = async ({ url }: Running.Running, key: string) =>
  (
    await callTo(url, key)("POST", "/v1/uploads/init-multi-part", {
      fileName: "file.bin",
      fileSize: part.length
    })
  ).body.data as Session

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
    const [attacker, other] = [await keyWith(running, "create:uploads"), await keyWith(running, "create:uploads")]
    const sessions = await Promise.all(Array.from({ length: 20 }, () => begin(running, attacker)))
    const own = (await begin(running, other)).parts[0]!.url
    const alone = await sendParts(own, 6000)
    const urls = sessions.map(({ parts }) => parts[0]!.url)
    const words = [program, String(seconds), String(connections), String(part.length), ...urls]
    const attack = promisify(execFile)(process.execPath, words)
    await sleep(2000)
    const during = await sendParts(own, (seconds - 5) * 1000)
    const statuses: ReadonlyArray<readonly [status: string, count: number]> = JSON.parse((await attack).stdout)
    await report(ctx, {
      "part alone ms": alone,
      "part during ms": during,
      attacker: statuses.map(([status, count]) => `${count}x${status}`).join(" ")
    })
    // Parts without an answer were still arriving at the end: the attack held its whole share.
    assert.isAtLeast(new Map(statuses).get("none") ?? 0, 100)
    assert.isAtMost(during, alone * 1.5)
  })
})
