import { assert } from "vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { percentilesOf } from "../LoadClients.ts"
import { locationPath } from "../Operations.ts"
import { memoryOf } from "../Services.ts"
import type * as Running from "./Running.ts"
import { converse } from "./Sockets.ts"

/** What a client that works during an attack measured: milliseconds, and how often each status came. */
export interface Measured {
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly count: number
  readonly statuses: ReadonlyMap<number, number>
}

/** A key of its own with these permissions. */
export const keyWith = async (running: Running.Running, ...permissions: ReadonlyArray<string>): Promise<string> => {
  const answer = await running.call("POST", "/v1/api-keys", { name: "Proof", permissions })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body.data.key
}

/** Repeats each request, with a pause, until stopped. */
const watch = (requests: Readonly<Record<string, () => Promise<Response>>>, pause: number) => {
  const stopping = new AbortController()
  const repeat = async (request: () => Promise<Response>): Promise<Measured> => {
    const latencies: Array<number> = []
    const statuses = new Map<number, number>()
    while (!stopping.signal.aborted) {
      const began = performance.now()
      const response = await request()
      await response.arrayBuffer()
      latencies.push(performance.now() - began)
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      await sleep(pause)
    }
    return { ...percentilesOf(latencies), count: latencies.length, statuses }
  }
  const measured = Promise.all(
    Object.entries(requests).map(async ([name, request]) => [name, await repeat(request)] as const)
  )
  return async () => {
    stopping.abort()
    return new Map(await measured)
  }
}

/** The requests of a neighbour: its identity, a read by uuid, a first page, a write, and the readiness of the service. */
const neighbour = async (running: Running.Running) => {
  const { sql, url } = running
  const key = await keyWith(running, "read:locations", "update:locations")
  const [row] = await sql<ReadonlyArray<{ uuid: string }>>`select uuid from locations order by uuid desc limit 1`
  const path = `${url}${locationPath(row!.uuid)}`
  const headers = { authorization: key, "content-type": "application/json" }
  let number = 0
  const get = (to: string) => () => fetch(to, { headers })
  return {
    me: get(`${url}/v1/me`),
    read: get(path),
    page: get(`${url}/v1/locations`),
    write: () => fetch(path, { method: "PATCH", headers, body: JSON.stringify({ name: `Neighbour ${number++}` }) }),
    ready: () => fetch(`${url}/readyz`)
  }
}

/** What the neighbour measured without the attack, what it measured during the attack, and the peak memory in MB. */
export const duringAttack = async <A>(
  running: Running.Running,
  attack: () => Promise<A>,
  { pause = 20, calm = 3 } = {}
) => {
  const requests = await neighbour(running)
  for (const request of Object.values(requests)) await (await request()).arrayBuffer()
  const stopCalm = watch(requests, pause)
  await sleep(calm * 1000)
  const alone = await stopCalm()
  let peak = 0
  const timer = setInterval(() => (peak = Math.max(peak, memoryOf(running.pid))), 50)
  const stop = watch(requests, pause)
  const result = await attack().finally(() => clearInterval(timer))
  return { alone, during: await stop(), result, peak }
}

/** Sends bytes on many connections and never reads an answer. */
export const neverRead = async (url: string, requests: ReadonlyArray<string>, seconds: number) => {
  const closed = requests.map((request) =>
    converse(url, async (socket) => {
      socket.pause()
      socket.write(request)
      await sleep(seconds * 1000)
      socket.destroy()
    })
  )
  await Promise.all(closed)
}

/** Reads 2 KiB of each answer a second, on a connection for each request. */
export const readSlowly = async (url: string, requests: ReadonlyArray<string>, seconds: number) => {
  const closed = requests.map((request) =>
    converse(url, async (socket) => {
      socket.pause()
      socket.write(request)
      for (let second = 0; second < seconds; second++) {
        await sleep(1000)
        socket.removeAllListeners("data")
        socket.read(2048)
      }
      socket.destroy()
    })
  )
  await Promise.all(closed)
}

/** The figures of a neighbour for the table of the proofs. */
export const figures = (alone: ReadonlyMap<string, Measured>, during: ReadonlyMap<string, Measured>) =>
  Object.fromEntries(
    Array.from(during, ([name, { max, p99, statuses }]) => [
      name,
      `p99 ${p99.toFixed(0)} (alone ${alone.get(name)!.p99.toFixed(0)}) max ${max.toFixed(0)} ms ${[...statuses].map(([status, count]) => `${count}x${status}`).join(" ")}`
    ])
  )

/** Fails unless every request of the neighbour succeeded within these milliseconds, as the 99th percentile. */
export const assertUnharmed = (
  during: ReadonlyMap<string, Measured>,
  limits: { readonly read: number; readonly write: number }
) => {
  for (const [name, { p99, statuses }] of during) {
    assert.deepStrictEqual([...statuses.keys()], [200], name)
    assert.isAtMost(p99, name === "write" ? limits.write : name === "ready" ? 250 : limits.read, name)
  }
}
