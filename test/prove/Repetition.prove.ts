import postgres from "postgres"
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it, onTestFinished } from "vitest"
import { report } from "../support/proofs/Figures.ts"
import * as Running from "../support/proofs/Running.ts"
import * as Process from "../support/Process.ts"
import { randomOf } from "../support/Random.ts"
import * as Service from "../support/Service.ts"

const requests = Number(process.env["REPEATED_REQUESTS"] ?? 5000)
const kills = 5
const writers = 12

/** A request that is sent until it is answered, and again afterwards. */
interface Repeated {
  readonly key: string
  readonly identifier: string
  readonly answers: Array<string>
}

describe("requests that are repeated with their Idempotency-Key", () => {
  it(`of ${requests.toLocaleString("en")} requests, repeated at random, at once and after kill -9, each is done once`, async (ctx) => {
    const random = randomOf(Number(process.env["TEST_SEED"] ?? 7))
    const { folder, remove } = Process.dataFolder()
    onTestFinished(remove)
    const repeated: Array<Repeated> = []
    let [sent, inProgress, replayed] = [0, 0, 0]
    const ask = async (call: Service.Call, { answers, identifier, key }: Repeated) => {
      sent++
      const body = { name: "Branch", identifier }
      const answer = await call("POST", "/v1/locations", body, { "idempotency-key": key }).catch(() => undefined)
      if (answer === undefined) return false
      if (answer.status === 201) {
        answers.push(answer.text)
        if (answer.headers.get("idempotent-replayed") === "true") replayed++
      } else if (answer.status === 409) inProgress++
      else assert.include([429, 503], answer.status, answer.text)
      return answer.status === 201
    }

    for (let round = 0; round <= kills; round++) {
      await using service = await Service.start({}, { folder })
      // Those that had no answer when the service was killed, and some that had one.
      for (const one of repeated.filter(({ answers }) => answers.length === 0 || random() < 0.2)) {
        while (!(await ask(service.call, one))) await sleep(20)
      }
      const goal = Math.ceil((requests / (kills + 1)) * (round + 1))
      const state = { isOver: false }
      const write = async () => {
        while (!state.isOver && repeated.length < goal) {
          const number = repeated.length
          const one: Repeated = { key: `key-${number}`, identifier: `once-${number}`, answers: [] }
          repeated.push(one)
          const times = 1 + Math.floor(random() * 3)
          await Promise.all(Array.from({ length: times }, () => ask(service.call, one)))
          if (random() < 0.2) await ask(service.call, repeated[Math.floor(random() * repeated.length)]!)
        }
      }
      const writing = Array.from({ length: writers }, write)
      if (round === kills) {
        await Promise.all(writing)
        for (const one of repeated.filter(({ answers }) => answers.length === 0)) {
          while (!(await ask(service.call, one))) await sleep(20)
        }
        const sql = postgres({ ...(await Running.socketOf(folder)), max: 1 })
        const rows = await sql`select identifier from locations where identifier like 'once-%'`
        // In one statement: sealing moves changes from one table to the other.
        const created = await sql`
          select (select count(*)::int from events where type = 'location' and action = 'created')
            + (select count(*)::int from pending_changes where type = 'location' and action = 'created') as count`
        await sql.end()
        const different = repeated.filter(({ answers }) => new Set(answers).size !== 1)
        const logged = created[0]!["count"]
        await report(ctx, {
          requests: repeated.length,
          sent,
          replayed,
          "in progress": inProgress,
          kills,
          "records twice": rows.length - new Set(rows.map(({ identifier }) => identifier)).size,
          "records more than requests": rows.length - repeated.length,
          "events more than requests": logged - repeated.length,
          "different answers": different.length
        })
        assert.deepStrictEqual(different, [])
        assert.strictEqual(rows.length, repeated.length)
        assert.strictEqual(logged, repeated.length)
        assert.isAbove(replayed, requests / 4)
        assert.isAbove(inProgress, 0)
      } else {
        while (repeated.length < goal - writers) await sleep(5)
        service.process.kill("SIGKILL")
        state.isOver = true
        await Promise.all(writing)
        await service.exited
      }
    }
  }, 300_000)
})
