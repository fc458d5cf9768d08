import { execFile } from "node:child_process"
import { hash, randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"
import * as ApiKeySecret from "../../src/domain/keys/ApiKeySecret.ts"
import { percentilesOf } from "../support/LoadClients.ts"
import { report } from "../support/proofs/Figures.ts"
import * as Running from "../support/proofs/Running.ts"

const run = promisify(execFile)
const program = fileURLToPath(new URL("../support/proofs/UnknownKeysProcess.ts", import.meta.url))

const connections = 200
const seconds = 8

/** Keys that no process has seen. */
const freshKeys = async ({ sql }: Running.Running, count: number) => {
  const keys = Array.from({ length: count }, () => ApiKeySecret.format(randomBytes(16), randomBytes(32)))
  for (const { id, secret } of keys)
    await sql`insert into api_keys (uuid, id, prefix, secret_hash, name, permissions)
      values (gen_random_uuid(), ${id}, ${`wp_${id}`}, ${hash("sha256", secret, "buffer")}, 'Fresh', '{}')`
  return keys.map(({ key }) => key)
}

/** The latencies of the first requests of keys, one after the other, until all are used or the time is over. */
const firstRequests = async (url: string, keys: ReadonlyArray<string>, millis: number) => {
  const latencies: Array<number> = []
  const until = performance.now() + millis
  for (const authorization of keys) {
    if (performance.now() > until) break
    const began = performance.now()
    const response = await fetch(`${url}/v1/me`, { headers: { authorization } })
    await response.arrayBuffer()
    latencies.push(performance.now() - began)
    assert.strictEqual(response.status, 200)
    await sleep(20)
  }
  return { ...percentilesOf(latencies), count: latencies.length }
}

describe("unknown keys", () => {
  it("200 connections that send unknown keys do not slow down the first requests of known keys", async (ctx) => {
    await using running = await Running.start()
    const keys = await freshKeys(running, 600)
    const alone = await firstRequests(running.url, keys.slice(0, 300), seconds * 1000)
    const attack = run(process.execPath, [program, running.url, String(connections), String(seconds + 4), "127.0.0.2"])
    // The program starts first.
    await sleep(2000)
    const during = await firstRequests(running.url, keys.slice(300), seconds * 1000)
    const statuses = new Map<number, number>(JSON.parse((await attack).stdout))
    await report(ctx, {
      "p99 alone ms": alone.p99,
      "p50 during ms": during.p50,
      "p99 during ms": during.p99,
      "max during ms": during.max,
      requests: during.count,
      attack: Array.from(statuses, ([status, count]) => `${count}x${status}`).join(" ")
    })
    assert.isAtLeast(during.count, 50)
    assert.isAbove(statuses.get(401) ?? 0, 0)
    assert.isAtMost(during.p99, 150)
  })
})
