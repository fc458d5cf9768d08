import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { HttpApi } from "effect/http-api"
import { isDeepStrictEqual } from "node:util"
import { Api } from "../../src/api/Api.ts"
import { extraMembers } from "../../src/domain/assets/Asset.ts"
import { send } from "../support/requests/Requests.ts"
import * as TestServer from "../support/TestServer.ts"
import { report } from "../support/proofs/Figures.ts"
import { type Change, type Patched, patched } from "./Patches.ts"

/** The number of concurrent patches. */
const atOnce = 100

const valueAt = (record: unknown, path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((inner, member) => (inner as Readonly<Record<string, unknown>> | undefined)?.[member], record)

/** Repeats a request while the service is too busy for it, as its clients do. */
const busy = (request: ReturnType<typeof send>) =>
  Effect.repeat(request, { while: ({ status }) => status === 503, times: 10, schedule: Schedule.spaced("200 millis") })

/** The patches of all records, interleaved. */
const mixed = (records: ReadonlyArray<Patched>): ReadonlyArray<Change & { readonly uuid: string }> =>
  records
    .flatMap(({ changes, uuid }) => changes.map((change, index) => ({ ...change, uuid, index })))
    .toSorted((a, b) => a.index - b.index)

layer(TestServer.layer(), { excludeTestServices: true })("concurrent patches", (it) => {
  it.effect("the cases cover every PATCH operation", () =>
    Effect.sync(() => {
      const paths: Array<string> = []
      HttpApi.reflect(Api, {
        onGroup: () => undefined,
        onEndpoint: ({ endpoint }) => void (endpoint.method === "PATCH" && paths.push(endpoint.path))
      })
      assert.sameMembers(Object.keys(patched), paths)
    })
  )

  for (const [path, make] of Object.entries(patched)) {
    it.effect(`concurrent patches of different fields are all applied: ${path}`, (ctx) =>
      Effect.gen(function* () {
        const first = yield* make
        const others = Math.ceil(atOnce / first.changes.length) - 1
        const records = [first, ...(yield* Effect.forEach(Array.from({ length: others }), () => make))]
        const patches = mixed(records)
        const answers = yield* Effect.forEach(
          patches,
          ({ body, uuid }) => busy(send("PATCH", path.replace(":uuid", uuid), { body })),
          { concurrency: "unbounded" }
        )
        const refused = answers.filter(({ status }) => status !== 200).map(({ text }) => text)
        const include = path === "/v1/assets/:uuid" ? `?include=${extraMembers.join(",")}` : ""
        const read = new Map<string, unknown>()
        for (const { uuid } of records) {
          read.set(uuid, (yield* send("GET", `${path.replace(":uuid", uuid)}${include}`)).body.data)
        }
        const lost = patches.filter(
          (patch) => !isDeepStrictEqual(valueAt(read.get(patch.uuid), patch.path), patch.value)
        )
        const name = path.replace("/v1/", "").replace("/:uuid", "")
        yield* Effect.promise(() => report(ctx, { [`${name} patches`]: patches.length, lost: lost.length }))
        assert.deepStrictEqual(refused, [])
        assert.deepStrictEqual(lost, [])
        assert.isAtLeast(patches.length, atOnce)
      })
    )
  }
})
