import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { report } from "../support/proofs/Figures.ts"
import * as Replication from "../support/proofs/Replication.ts"
import * as Service from "../support/Service.ts"
import { until } from "../support/Until.ts"

let replication: Replication.Replication

beforeAll(async () => {
  replication = await Replication.start()
})

afterAll(async () => replication[Symbol.asyncDispose]())

/** Reads a location until a replica answers. */
const untilReplicaAnswers = (service: Service.Service, path: string) =>
  until("a replica answers", async () => Replication.isOfReplica(await service.call("GET", path)))

/** Reads without pause until it is stopped; counts answers by status, those of replicas, and the longest. */
const reading = (service: Service.Service, path: string, readers = 4) => {
  const ending = { isDue: false }
  const statuses = new Map<number, number>()
  let ofReplicas = 0
  let longest = 0
  const run = async () => {
    while (!ending.isDue) {
      const answer = await service.call("GET", path)
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      if (Replication.isOfReplica(answer)) ofReplicas++
      longest = Math.max(longest, answer.millis)
    }
  }
  const runs = Array.from({ length: readers }, run)
  return {
    ofReplicas: () => ofReplicas,
    stop: async () => {
      ending.isDue = true
      await Promise.all(runs)
      return { statuses: Object.fromEntries(statuses), ofReplicas, longest: Math.round(longest) }
    }
  }
}

describe("replicas", () => {
  it("a key reads what it wrote while the replica is 5 s behind, and others read from the replica", async (ctx) => {
    await using replica = await replication.standby({ recovery_min_apply_delay: "5s" })
    await using service = await replication.serving([replica])
    const reader = await service.call("POST", "/v1/api-keys", { name: "Reader", permissions: ["read:locations"] })
    const other = Service.callTo(service.url, reader.body.data.key)
    const uuid = await service.create("/v1/locations", { name: "Version 0", identifier: "V-0" })
    const path = `/v1/locations/${uuid}`
    await until("the reader's reads come from the replica", async () => {
      const answer = await other("GET", path)
      return answer.status === 200 && Replication.isOfReplica(answer)
    })
    let [stale, own, ofReplica] = [0, 0, 0]
    for (let version = 1; version <= 100; version++) {
      const written = await service.call("PATCH", path, { name: `Version ${version}` })
      assert.match(written.headers.get("waypost-position")!, /^[0-9A-F]+\/[0-9A-F]+$/)
      const [read, elsewhere, named] = await Promise.all([
        service.call("GET", path),
        other("GET", path),
        other("GET", path, undefined, { "waypost-position": written.headers.get("waypost-position")! })
      ])
      if (read.body.data.name !== `Version ${version}` || named.body.data.name !== `Version ${version}`) stale++
      if (Replication.isOfReplica(read) || Replication.isOfReplica(named)) own++
      if (Replication.isOfReplica(elsewhere)) ofReplica++
    }
    await report(ctx, { "own writes unseen": stale, "reads of others from the replica": ofReplica })
    assert.deepStrictEqual([stale, own], [0, 0])
    assert.isAbove(ofReplica, 90)
  })

  it("no read fails while a replica dies, freezes, returns and is promoted", async (ctx) => {
    await using first = await replication.standby()
    await using second = await replication.standby()
    await using service = await replication.serving([first, second])
    const uuid = await service.create("/v1/locations", { name: "Bakkerij 1", identifier: "B-1" })
    const path = `/v1/locations?filter=uuid:equals:${uuid}`
    await untilReplicaAnswers(service, path)
    const load = reading(service, path)
    await sleep(1000)
    await first.stop("SIGKILL")
    await sleep(2000)
    await first.start()
    await sleep(2000)
    const frozen = [second.postmaster(), ...(await second.backends()).map(({ pid }) => pid)]
    for (const pid of frozen) process.kill(pid, "SIGSTOP")
    await sleep(2000)
    for (const pid of frozen) process.kill(pid, "SIGCONT")
    await sleep(1000)
    await first.query("select pg_promote()")
    // A record that only the promoted server has is never answered.
    await sleep(1500)
    await first.query(`update locations set name = 'Only here' where uuid = '${uuid}'`)
    const names = new Set<string>()
    for (let read = 0; read < 100; read++) names.add((await service.call("GET", path)).body.data[0].name)
    const { longest, ofReplicas, statuses } = await load.stop()
    await report(ctx, { ...statuses, "of replicas": ofReplicas, "longest ms": longest })
    assert.deepStrictEqual([...names], ["Bakkerij 1"])
    assert.deepStrictEqual(Object.keys(statuses), ["200"])
    assert.isAbove(ofReplicas, 100)
    assert.isBelow(longest, 3000)
  })

  it("a replica that lags for longer than the setting allows is left out within a second, until it has caught up", async (ctx) => {
    await using replica = await replication.standby()
    await using service = await replication.serving([replica], { REPLICA_MAX_LAG_SECONDS: "2" })
    const { body } = await service.call("POST", "/v1/api-keys", { name: "Reader", permissions: ["read:locations"] })
    const other = Service.callTo(service.url, body.data.key)
    await until("the replica answers", async () => Replication.isOfReplica(await other("GET", "/v1/locations")))
    await replica.query("select pg_wal_replay_pause()")
    await service.create("/v1/locations", { name: "Bakkerij 2", identifier: "B-2" })
    const began = performance.now()
    const left = await until(
      "the primary answers",
      async () => !Replication.isOfReplica(await other("GET", "/v1/locations")) && performance.now()
    )
    await replica.query("select pg_wal_replay_resume()")
    const returned = await until(
      "the replica answers again",
      async () => Replication.isOfReplica(await other("GET", "/v1/locations")) && performance.now()
    )
    const leftSeconds = (left - began) / 1000
    await report(ctx, {
      "left out after s": Number(leftSeconds.toFixed(1)),
      "back after s": Number(((returned - left) / 1000).toFixed(1))
    })
    assert.isAtLeast(leftSeconds, 1.5)
    assert.isBelow(leftSeconds, 3.5)
  })

  it("reads go on while the primary is down or hangs, also with keys that were not seen before, and writes are 503 until it is back", async (ctx) => {
    await using replica = await replication.standby()
    await using service = await replication.serving([replica])
    const uuid = await service.create("/v1/locations", { name: "Bakkerij 4", identifier: "B-4" })
    const { body } = await service.call("POST", "/v1/api-keys", { name: "Reader", permissions: ["read:locations"] })
    const path = `/v1/locations/${uuid}`
    await untilReplicaAnswers(service, path)
    const load = reading(service, path)
    await sleep(500)
    await replication.primary.stop("SIGKILL")
    await sleep(3000)
    const unseen = await Service.callTo(service.url, body.data.key)("GET", path)
    const write = await service.call("PATCH", path, { name: "Bakkerij 5" })
    await replication.primary.start()
    const began = performance.now()
    await until(
      "writes succeed",
      async () => (await service.call("PATCH", path, { name: "Bakkerij 6" })).status === 200
    )
    const resumed = Math.round(performance.now() - began)
    await until("the replica has the write", async () => {
      const answer = await service.call("GET", path)
      return Replication.isOfReplica(answer) && answer.body.data.name === "Bakkerij 6"
    })
    // A server that hangs closes no connection.
    const frozen = [replication.primary.postmaster(), ...(await replication.primary.backends()).map(({ pid }) => pid)]
    for (const pid of frozen) process.kill(pid, "SIGSTOP")
    await sleep(4000)
    for (const pid of frozen) process.kill(pid, "SIGCONT")
    await until(
      "writes succeed",
      async () => (await service.call("PATCH", path, { name: "Bakkerij 7" })).status === 200
    )
    const { longest, ofReplicas, statuses } = await load.stop()
    await report(ctx, {
      ...statuses,
      "of replicas": ofReplicas,
      "longest ms": longest,
      "writes resume after ms": resumed
    })
    assert.deepStrictEqual([unseen.status, write.status, write.headers.get("retry-after")], [200, 503, "1"])
    assert.deepStrictEqual(Object.keys(statuses), ["200"])
    assert.isBelow(resumed, 5000)
    assert.isBelow(longest, 3000)
  })
})
