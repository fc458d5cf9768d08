import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import { send } from "../../support/requests/UploadParts.ts"
import * as Wire from "../../support/wire/Wire.ts"

const execute = (statement: string) =>
  Effect.flatMap(Sql, ({ pooled }) => pooled.unsafe<{ readonly options: string }>(statement))

const marker = "spoiled-7f3a9c"

/** What somebody with another program may have written into a column that holds JSON. */
const spoiled = [`"${marker}"`, `[{ "key": "${marker}", "translations": 7 }]`, `{ "${marker}": null }`, "[null]"]

layer(Wire.layer(), { excludeTestServices: true })("A row that holds what it never should", (it) => {
  it.effect("is not built upon: who changes it gets a 500 that hides why, and it stays as it is", () =>
    Effect.gen(function* () {
      const { logs } = yield* Wire.Wire
      const body = JSON.stringify({ key: "season", type: "select", options: [{ key: "spring" }] })
      const { uuid } = (yield* send("POST", "/v1/meta-tags", { body })).body.data
      const options = execute("select options::text from meta_tag_definitions")
      const [sound] = yield* options
      for (const json of spoiled) {
        yield* execute(`update meta_tag_definitions set options = '${json}'::jsonb`)
        const before = yield* options
        const change = JSON.stringify({ position: 7 })
        const answer = yield* send("PATCH", `/v1/meta-tags/${uuid}`, { body: change })
        assert.strictEqual(answer.status, 500, `${json} ${answer.text}`)
        assert.deepStrictEqual(answer.body, {
          _tag: "InternalServerError",
          message: "Something went wrong on our side; quote the requestId when you report it",
          requestId: answer.headers["x-request-id"]
        })
        // The operator finds by that id what the client is not told.
        const told = logs.filter((line) => line.includes(answer.body.requestId) && line.includes("SchemaError"))
        assert.isNotEmpty(told, json)
        assert.deepStrictEqual(yield* options, before)
      }
      yield* execute(`update meta_tag_definitions set options = '${sound!.options}'::jsonb`)
      const mended = yield* send("PATCH", `/v1/meta-tags/${uuid}`, { body: JSON.stringify({ position: 7 }) })
      assert.strictEqual(mended.status, 200, mended.text)
    })
  )
})
