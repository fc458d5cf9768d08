import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { Client } from "../../src/client/Client.ts"
import { createClient } from "../../src/client/promise/PromiseClient.ts"
import { LocationId } from "../../src/domain/locations/Location.ts"
import type * as Database from "../support/proofs/Database.ts"
import * as Replication from "../support/proofs/Replication.ts"
import * as Service from "../support/Service.ts"
import { promiseAtBest, until } from "../support/Until.ts"

/** How many statements of clients a server has run. */
const readsOf = async (server: Database.Database) => {
  const [row] = await server.query<{ readonly commits: string }>(
    "select xact_commit::text as commits from pg_stat_database where datname = current_database()"
  )
  return Number(row!.commits)
}

/**
 * A network to a server, which can hold back statements of clients and then refuse the question for the position, and lose the
 * answer to a statement with its connection. It delays the next answer with a text until the returned socket is uncorked.
 */
const gateTo = async (url: string) => {
  const target = new URL(url)
  const port = Number(target.port)
  const pairs: Array<{ readonly sockets: ReadonlyArray<Socket>; asksForPosition: boolean }> = []
  const state = { isHeld: false, isRefusing: false, lost: undefined as string | undefined }
  let delayed: { readonly text: string; readonly found: (socket: Socket) => void } | undefined
  const server = createServer((incoming) => {
    if (state.isRefusing) {
      incoming.resetAndDestroy()
      return
    }
    const outgoing = connect(port, target.hostname)
    const pair = { sockets: [incoming, outgoing], asksForPosition: false }
    let isLosing = false
    pairs.push(pair)
    incoming.on("data", (bytes) => {
      pair.asksForPosition ||= bytes.includes("pg_last_wal_replay_lsn")
      isLosing ||= state.lost !== undefined && bytes.includes(state.lost)
    })
    outgoing.on("data", (bytes) => {
      if (delayed === undefined || !bytes.includes(delayed.text)) return
      incoming.cork()
      delayed.found(incoming)
      delayed = undefined
    })
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming]
    ] as const) {
      from.on("data", (bytes) => {
        if (isLosing && from === outgoing) {
          state.lost = undefined
          incoming.resetAndDestroy()
        } else if (!state.isHeld || pair.asksForPosition) to.write(bytes)
      })
      from.on("error", () => undefined)
      from.on("close", () => to.destroy())
    }
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  target.port = String((server.address() as AddressInfo).port)
  return {
    url: target.href,
    hold: () => void (state.isHeld = true),
    delayAnswerWith: (text: string) => new Promise<Socket>((found) => void (delayed = { text, found })),
    loseAnswerTo: (statement: string) => void (state.lost = statement),
    refuse: () => {
      state.isRefusing = true
      for (const { asksForPosition, sockets } of pairs) if (asksForPosition) sockets[0]!.resetAndDestroy()
    },
    [Symbol.asyncDispose]: async () => {
      for (const { sockets } of pairs) for (const socket of sockets) socket.destroy()
      server.close()
    }
  }
}

/** The identifier of a primary and its replicas, which every answer to the question for the position has. */
const systemOf = async (server: Database.Database) => {
  const [row] = await server.query<{ readonly system: string }>(
    "select system_identifier::text as system from pg_control_system()"
  )
  return row!.system
}

/** Reads until a replica answers. */
const ofReplica = (read: () => Promise<Service.Answer>) =>
  until("the replica answers", async () => {
    const answer = await read()
    return Replication.isOfReplica(answer) && answer
  })

/** One primary with one replica for all tests but the one that kills it. */
let replication: Replication.Replication
let replica: Awaited<ReturnType<Replication.Replication["standby"]>>
beforeAll(async () => {
  replication = await Replication.start()
  replica = await replication.standby()
})
afterEach(() => replica.query("select pg_wal_replay_resume()"))
afterAll(async () => {
  await replica[Symbol.asyncDispose]()
  await replication[Symbol.asyncDispose]()
})

describe("two nodes with one replica", () => {
  let first: Service.Service
  let second: Service.Service
  beforeAll(async () => {
    // Tests hold the replica back, on a busy machine for longer than by default.
    const settings = { REPLICA_MAX_LAG_SECONDS: "600" }
    first = await replication.serving([replica], settings)
    second = await replication.serving([replica], settings)
  })
  afterAll(async () => {
    for (const one of [second, first]) await one[Symbol.asyncDispose]()
  })

  it("reads of records, lists and searches come from the replica; writes, keys and the past do not", async () => {
    const service = first
    const uuid = await service.create("/v1/locations", { name: "Bakkerij 3", identifier: "B-3" })
    await ofReplica(() => service.call("GET", `/v1/locations/${uuid}`))
    const before = await readsOf(replica)
    for (const path of ["", `/${uuid}`, "?filter=name:contains:akkerij", `/${uuid}/usages`, "/delta"]) {
      const { status } = await ofReplica(() => service.call("GET", `/v1/locations${path}`))
      assert.strictEqual(status, 200, path)
    }
    const past = `?at=${new Date().toISOString()}`
    for (const path of [
      "/v1/api-keys",
      "/v1/events",
      "/v1/me",
      ...["/history", past].map((end) => `/v1/locations/${uuid}${end}`)
    ]) {
      const answer = await service.call("GET", path)
      assert.deepStrictEqual([answer.status, Replication.isOfReplica(answer)], [200, false], path)
    }
    await until("the statements are counted", async () => (await readsOf(replica)) >= before + 5)
    const malformed = await service.call("GET", "/v1/locations", undefined, { "waypost-position": "yesterday" })
    assert.deepStrictEqual([malformed.status, malformed.body.issues[0].path], [400, "waypost-position"])
  })

  it("typed clients read what they wrote on another node, while its replica is behind", async () => {
    const uuid = await first.create("/v1/locations", { name: "Before", identifier: "B-5" })
    const path = `/v1/locations/${uuid}`
    await until("the replica has the location", async () => {
      const answer = await second.call("GET", path)
      return answer.status === 200 && Replication.isOfReplica(answer)
    })
    await replica.query("select pg_wal_replay_pause()")
    /** Sends reads to the other node, as a load balancer may. */
    const balanced: typeof fetch = (input, init) => {
      const node = init?.method === "GET" ? second : first
      const { url } = new Request(input)
      return fetch(url.replace(first.url, node.url), init)
    }
    const client = createClient({ url: first.url, key: first.key, fetch: balanced })
    await client.locations.update(uuid, { name: "After" })
    const read = await client.locations.get(uuid)
    const stale = await ofReplica(() => second.call("GET", path))
    assert.deepStrictEqual([read.name, stale.body.data.name], ["After", "Before"])
    const name = await Effect.gen(function* () {
      const typed = yield* Client
      yield* typed.locations.update({ params: { uuid: LocationId.make(uuid) }, payload: { name: "Last" } })
      return (yield* typed.locations.get({ params: { uuid: LocationId.make(uuid) }, query: {} })).name
    }).pipe(
      Effect.provide(Client.layer({ baseUrl: first.url, apiKey: first.key })),
      Effect.provideService(FetchHttpClient.Fetch, balanced),
      Effect.runPromise
    )
    assert.strictEqual(name, "Last")
  })

  it("a history and a read of the past have what a replica that is behind lacks", async () => {
    const path = `/v1/locations/${await first.create("/v1/locations", { name: "Before", identifier: "B-8" })}`
    await until("the replica has the location", async () => {
      const answer = await second.call("GET", path)
      return answer.status === 200 && Replication.isOfReplica(answer)
    })
    await replica.query("select pg_wal_replay_pause()")
    await first.call("PATCH", path, { name: "After" })
    const { cursor, data } = await until("the change is sealed", async () => {
      const { body } = await first.call("GET", `${path}/history?order=asc`)
      return body.data.length === 2 && body
    })
    const history = await second.call("GET", `${path}/history?order=asc&after=${cursor}`)
    assert.deepStrictEqual([history.status, history.body.data], [200, []], history.text)
    const past = await second.call("GET", `${path}?at=${data[1].occurredAt}`)
    const stale = await ofReplica(() => second.call("GET", path))
    assert.deepStrictEqual([past.body.data.name, stale.body.data.name], ["After", "Before"])
  })

  it("a replica that is behind when a process starts answers once it has what the primary had then", async () => {
    const path = `/v1/locations/${await first.create("/v1/locations", { name: "Before", identifier: "B-9" })}`
    await until("the replica has the location", async () => {
      const answer = await first.call("GET", path)
      return answer.status === 200 && Replication.isOfReplica(answer)
    })
    await replica.query("select pg_wal_replay_pause()")
    await first.call("PATCH", path, { name: "After" })
    await using late = await replication.serving([replica])
    const names = new Set<string>()
    for (const began = performance.now(); performance.now() - began < 1500; await sleep(10)) {
      names.add((await late.call("GET", path)).body.data.name)
    }
    assert.deepStrictEqual([...names], ["After"])
    await replica.query("select pg_wal_replay_resume()")
    await until("the replica answers", async () => Replication.isOfReplica(await late.call("GET", path)))
  })

  it("a write to a server that is no primary any more is 503 with Retry-After, and succeeds once there is one", async () => {
    const { primary } = replication
    const set = async (value: "on" | "off") => {
      await primary.query(`alter system set default_transaction_read_only = ${value}`)
      await primary.query("select pg_reload_conf()")
    }
    const path = `/v1/locations/${await first.create("/v1/locations", { name: "Before", identifier: "B-12" })}`
    let updates = 0
    const update = () => first.call("PATCH", path, { name: `Update ${++updates}` })
    await primary.query("set default_transaction_read_only = off")
    try {
      await set("on")
      const rejected = await until("the setting has its effect", async () => {
        const answer = await update()
        return answer.status === 200 ? false : answer
      })
      assert.deepStrictEqual(
        [rejected.status, rejected.body._tag, rejected.headers.get("retry-after")],
        [503, "ServiceUnavailableError", "1"]
      )
    } finally {
      await set("off")
    }
    await until("writes succeed", async () => (await update()).status === 200)
  })
})

describe("one node with one replica, behind a network", () => {
  let gate: Awaited<ReturnType<typeof gateTo>>
  let service: Service.Service
  beforeAll(async () => {
    gate = await gateTo(replication.primary.url)
    service = await Service.start({
      DATABASE_URL: gate.url,
      DATABASE_REPLICA_URLS: replica.url,
      REPLICA_MAX_LAG_SECONDS: "3"
    })
  })
  afterAll(async () => {
    // A service that stops waits for the primary.
    await gate[Symbol.asyncDispose]()
    await service[Symbol.asyncDispose]()
  })

  it("a key reads its write whose answer was lost with the connection to the database, while the replica is behind", async () => {
    const path = `/v1/locations/${await service.create("/v1/locations", { name: "Before", identifier: "B-11" })}`
    await until("the replica answers", async () => Replication.isOfReplica(await service.call("GET", path)))
    await replica.query("select pg_wal_replay_pause()")
    gate.loseAnswerTo("After")
    const { status } = await service.call("PATCH", path, { name: "After" })
    const { body } = await service.call("GET", path)
    assert.deepStrictEqual([status, body.data.name], [503, "After"])
  })

  it("a key that was revoked is rejected after the process was suspended, also if the replica still has it", async () => {
    const { body } = await service.call("POST", "/v1/api-keys", { name: "Reader", permissions: ["read:locations"] })
    await ofReplica(() => service.call("GET", "/v1/locations"))
    await replica.query("select pg_wal_replay_pause()")
    await service.call("DELETE", `/v1/api-keys/${body.data.uuid}`)
    const socket = await gate.delayAnswerWith(await systemOf(replica))
    process.kill(service.pid, "SIGSTOP")
    const reading = Service.callTo(service.url, body.data.key)("GET", "/v1/locations")
    await sleep(1500)
    process.kill(service.pid, "SIGCONT")
    await sleep(100)
    socket.uncork()
    assert.strictEqual((await reading).status, 401)
  })

  it("a replica that lacks the end of the log answers for as long as the primary is silent", async () => {
    const path = `/v1/locations/${await service.create("/v1/locations", { name: "Bakkerij 10", identifier: "B-10" })}`
    const read = () => service.call("GET", path)
    await ofReplica(read)
    await replica.query("select pg_wal_replay_pause()")
    await replication.primary.query("select pg_logical_emit_message(true, '', '')::text")
    // The next position of the primary, which is the last one that the service receives.
    const socket = await gate.delayAnswerWith(await systemOf(replica))
    socket.uncork()
    gate.hold()
    await sleep(4000)
    const { status } = await ofReplica(read)
    assert.strictEqual(status, 200)
  })
})

describe("replicas", () => {
  it("the log has the cause for which a replica does not answer, and no password", async () => {
    const url = new URL(replication.primary.url)
    url.pathname = "/unknown"
    url.password = "hunter2"
    await using service = await replication.serving([{ ...replication.primary, url: url.href }])
    await until("the replica is left out", () => service.output().includes("it does not answer"))
    const line = service
      .output()
      .split("\n")
      .find((one) => one.includes("it does not answer"))
    assert.match(JSON.parse(line!).cause, /database "unknown" does not exist/)
    assert.notInclude(service.output(), "hunter2")
  })

  it("a read in flight on a replica that is promoted while no primary answers is answered", () =>
    // A statement that is in flight for 5 s is cancelled, which a busy machine may take for the promotion.
    promiseAtBest(async () => {
      await using replication = await Replication.start()
      await using replica = await replication.standby()
      await using service = await replication.serving([replica])
      const path = `/v1/locations/${await service.create("/v1/locations", { name: "Bakkerij 6", identifier: "B-6" })}`
      const read = () => service.call("GET", path)
      await until("the replica answers", async () => Replication.isOfReplica(await read()))
      await replication.primary.stop("SIGKILL")
      await until("reads go on without the primary", async () => (await read()).status === 200)
      // The statement stays in flight because its backend is stopped; the one that asks for the position goes on.
      const stopped = (await replica.backends()).filter(({ query }) => !query.includes("pg_last_wal_replay_lsn"))
      for (const { pid } of stopped) process.kill(pid, "SIGSTOP")
      const reading = read()
      await sleep(100)
      await replica.query("select pg_promote()")
      await until("the service leaves the replica out", () => service.output().includes("it was promoted"))
      for (const { pid } of stopped) process.kill(pid, "SIGCONT")
      const answer = await reading
      assert.deepStrictEqual([answer.status, Replication.isOfReplica(answer)], [200, true], answer.text)
    }))

  it("a replica whose answer arrives while the process is suspended goes on answering reads", () =>
    // A busy machine may take longer than a replica that does not answer.
    promiseAtBest(async () => {
      await using gate = await gateTo(replica.url)
      await using service = await replication.serving([{ ...replica, url: gate.url }])
      const location = { name: "Bakkerij 12", identifier: crypto.randomUUID() }
      const path = `/v1/locations/${await service.create("/v1/locations", location)}`
      const read = () => service.call("GET", path)
      await ofReplica(read)
      const socket = await gate.delayAnswerWith(await systemOf(replica))
      process.kill(service.pid, "SIGSTOP")
      await sleep(100)
      socket.uncork()
      await sleep(1000)
      process.kill(service.pid, "SIGCONT")
      await ofReplica(read)
      assert.notInclude(service.output(), "does not answer")
    }))

  it("a read in flight on a replica whose network is lost is answered by the primary within a second", async () => {
    await promiseAtBest(async () => {
      await using gate = await gateTo(replica.url)
      await using service = await replication.serving([{ ...replica, url: gate.url }])
      const location = { name: "Bakkerij 7", identifier: crypto.randomUUID() }
      const path = `/v1/locations/${await service.create("/v1/locations", location)}`
      await until("the replica answers", async () => Replication.isOfReplica(await service.call("GET", path)))
      gate.hold()
      const reading = service.call("GET", path)
      await sleep(50)
      gate.refuse()
      const { millis, status } = await reading
      assert.strictEqual(status, 200)
      assert.isBelow(millis, 1000)
    })
  })
})
