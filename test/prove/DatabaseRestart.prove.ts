import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll } from "vitest"
import { type Answer, type Service, start } from "../support/Service.ts"
import * as Database from "../support/proofs/Database.ts"
import { report } from "../support/proofs/Figures.ts"
import { brokenOf, brokenIn } from "../support/proofs/BrokenInvariants.ts"
import { assertUnavailable, byStatus, slowest } from "./Responses.ts"

const writers = 16
const readers = 8
const downMillis = 1500
/** The backends of a killed postmaster keep serving until they notice. */
const noticeMillis = 100

let database: Database.Database
let service: Service

beforeAll(async () => {
  database = await Database.make()
  service = await start({ DATABASE_URL: database.url })
}, 60_000)

afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await database?.remove()
}, 60_000)

/** Writers and readers that send requests continuously, with a short pause after an error. */
const load = (service: Service, name: string) => {
  const answers: Array<Answer> = []
  const acknowledged: Array<string> = []
  let written = 0
  const ended = new AbortController()
  const repeat = async (request: () => Promise<Answer>) => {
    while (!ended.signal.aborted) {
      const answer = await request()
      answers.push(answer)
      if (answer.status >= 500) await sleep(20)
    }
  }
  const write = async () => {
    const identifier = `${name}-${written++}`
    const answer = await service.call("POST", "/v1/locations", { name: "Kept", identifier })
    if (answer.status === 201) acknowledged.push(identifier)
    return answer
  }
  // Each needs the database; `/v1/me` is answered for a second from what is known of the key.
  const paths = [
    "/v1/locations?limit=5",
    "/v1/users?limit=5",
    "/v1/assets?limit=5",
    "/v1/groups?filter=name:contains:x"
  ]
  const all = [
    ...Array.from({ length: writers }, () => repeat(write)),
    ...Array.from({ length: readers }, (_, index) => repeat(() => service.call("GET", paths[index % paths.length]!)))
  ]
  return {
    answers,
    acknowledged,
    end: async () => {
      ended.abort()
      await Promise.all(all)
    }
  }
}

const identifiersOf = async ({ call }: Service, name: string) => {
  const found: Array<string> = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const filter = `filter=identifier:startsWith:${name}-`
    const { body } = await call("GET", `/v1/locations?${filter}&limit=500&page=${page}&sortBy=identifier`)
    pages = body.pagination.pageCount
    found.push(...body.data.map(({ identifier }: { readonly identifier: string }) => identifier))
  }
  return found
}

interface Outage {
  /** `performance.now()` when the database was down, and when it accepted connections again. */
  readonly gone: number
  readonly ready: number
}

/** Breaks the database under load, checks the responses, and returns the lost writes. */
const survive = async (
  context: Parameters<typeof report>[0],
  served: Service,
  name: string,
  outage: () => Promise<Outage>
) => {
  const { acknowledged, answers, end } = load(served, name)
  const whileBroken = async () => {
    await Database.until("the load began", () => acknowledged.length > 100)
    const began = performance.now()
    const { gone, ready } = await outage()
    await Database.until("writes succeed again", () => answers.some(({ at, status }) => at > ready && status === 201))
    await sleep(500)
    return { began, gone, ready }
  }
  const { began, gone, ready } = await whileBroken().finally(end)

  const stored = await identifiersOf(served, name)
  const kept = new Set(stored)
  const lost = acknowledged.filter((identifier) => !kept.has(identifier))
  const during = answers.filter(({ at, millis }) => at + millis > began && at < ready)
  const whileDown = answers.filter(({ at, millis }) => at > gone && at + millis < ready)
  const back = answers.filter(({ at, millis, status }) => at + millis > ready && status < 300)
  const recovery = Math.min(...back.map(({ at, millis }) => at + millis - ready))
  await report(context, {
    [`${name}: acknowledged`]: acknowledged.length,
    lost: lost.length,
    "503": byStatus(answers)[503]?.length ?? 0,
    "slowest ms": slowest(during),
    "recovery ms": recovery
  })

  assert.deepStrictEqual(Object.keys(byStatus(answers)).toSorted(), ["200", "201", "503"])
  for (const answer of byStatus(answers)[503] ?? []) assertUnavailable(answer)
  assert.isAbove(whileDown.length, 20)
  assert.deepStrictEqual(Object.keys(byStatus(whileDown)), ["503"])
  assert.isAtMost(slowest(during), 1000)
  assert.isAtMost(recovery, 1000)
  assert.strictEqual(kept.size, stored.length)
  // Committed but unacknowledged writes may be stored: at most those in flight.
  assert.isAtMost(stored.length - acknowledged.length, writers)
  return lost
}

const stopAndStart = (signal: NodeJS.Signals) => async () => {
  await database.stop(signal)
  const gone = performance.now() + noticeMillis
  await sleep(downMillis)
  return { gone, ready: await database.start() }
}

describe("a restart of PostgreSQL under load", () => {
  it("a fast shutdown and start loses no acknowledged write", async (context) => {
    assert.deepStrictEqual(await survive(context, service, "fast", stopAndStart("SIGINT")), [])
    assert.deepStrictEqual(await brokenOf(context, database.query), [])
  })

  it("a kill -9 of the postmaster loses no acknowledged write", async (context) => {
    assert.deepStrictEqual(await survive(context, service, "killed", stopAndStart("SIGKILL")), [])
    assert.deepStrictEqual(await brokenOf(context, database.query), [])
  })

  it("an immediate shutdown and start loses no acknowledged write", async (context) => {
    assert.deepStrictEqual(await survive(context, service, "immediate", stopAndStart("SIGQUIT")), [])
    assert.deepStrictEqual(await brokenOf(context, database.query), [])
  })

  it("the service restarts its embedded PostgreSQL after kill -9 and loses no acknowledged write", async (context) => {
    await using own = await start()
    const file = join(own.folder, "postgres/postmaster.pid")
    const lines = () => {
      try {
        return readFileSync(file, "utf8").split("\n")
      } catch {
        return []
      }
    }
    const [pid] = lines()
    const lost = await survive(context, own, "embedded", async () => {
      process.kill(Number(pid), "SIGKILL")
      const gone = performance.now() + noticeMillis
      const ready = await Database.until("the service started PostgreSQL again", () => {
        const [now, , , , , , , state = ""] = lines()
        return now !== pid && state.trim() === "ready" && performance.now()
      })
      return { gone, ready }
    })
    assert.deepStrictEqual(lost, [])
    assert.deepStrictEqual(await brokenIn(context, own.folder), [])
  })
})
