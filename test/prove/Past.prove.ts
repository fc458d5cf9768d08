import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  moment,
  pathOf,
  read,
  type Resource,
  resources,
  seal,
  whole,
  withoutAddresses,
  worldOf
} from "../support/changes/World.ts"
import { report } from "../support/proofs/Figures.ts"
import { randomOf } from "../support/Random.ts"
import { send } from "../support/requests/Requests.ts"
import * as TestServer from "../support/TestServer.ts"

const seed = Number(process.env["TEST_SEED"] ?? 20_261_122)
const writers = 8
const rounds = 60
const stepsPerRound = 6

interface Seen {
  readonly resource: Resource
  readonly uuid: string
  readonly at: string
  readonly answer: unknown
}

const answerOf = ({ body, status }: { readonly body: any; readonly status: number }) =>
  status === 200 ? withoutAddresses(body.data) : status

layer(TestServer.layer(), { excludeTestServices: true })("The past", (it) => {
  it.effect(
    "reads at a time answer what the read answered then, and deleted records come back as they were",
    (context) =>
      Effect.gen(function* () {
        const random = randomOf(seed)
        const world = worldOf(random, "p")
        const seen: Array<Seen> = []
        for (let round = 0; round < rounds; round++) {
          yield* Effect.replicateEffect(Effect.replicateEffect(world.step(), stepsPerRound), writers, {
            concurrency: writers
          })
          if (random() < 0.3) yield* seal
          const at = yield* moment
          for (const resource of resources) {
            for (const uuid of world.uuids[resource].filter(() => random() < 0.15)) {
              seen.push({ resource, uuid, at, answer: answerOf(yield* read(resource, uuid)) })
            }
          }
        }
        let different = 0
        for (const { answer, at, resource, uuid } of seen) {
          const then = answerOf(yield* read(resource, uuid, `at=${at}`))
          if (JSON.stringify(then) !== JSON.stringify(answer)) different++
        }
        let [restored, changed] = [0, 0]
        for (const resource of resources) {
          for (const uuid of world.uuids[resource]) {
            if ((yield* read(resource, uuid)).status !== 200) continue
            const before = yield* whole(resource, uuid)
            const force = resource === "assets" ? "?force=true" : ""
            if ((yield* send("DELETE", `${pathOf(resource, uuid)}${force}`)).status !== 200) continue
            const { status, text } = yield* send("POST", `${pathOf(resource, uuid)}/restore`, { body: {} })
            assert.strictEqual(status, 200, `${resource} ${text}`)
            restored++
            if (JSON.stringify(yield* whole(resource, uuid)) !== JSON.stringify(before)) changed++
          }
        }
        yield* Effect.promise(() =>
          report(context, {
            writes: rounds * stepsPerRound * writers,
            "reads of the past": seen.length,
            different,
            "restored records": restored,
            changed
          })
        )
        assert.isAbove(seen.length, 2000)
        assert.deepStrictEqual([different, changed], [0, 0])
      }),
    600_000
  )
})
