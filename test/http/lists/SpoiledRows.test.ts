import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import { send } from "../../support/requests/UploadParts.ts"
import * as Wire from "../../support/wire/Wire.ts"

const execute = (statement: string) =>
  Effect.flatMap(Sql, ({ pooled }) => pooled.unsafe<{ readonly options: string }>(statement))

const marker = "spoiled-7f3a9c"

/** Invalid JSON that another program may have written into a column. */
const spoiled = [`"${marker}"`, `[{ "key": "${marker}", "translations": 7 }]`, `{ "${marker}": null }`, "[null]"]

layer(Wire.layer(), { excludeTestServices: true })("Corrupt rows", (it) => {
  it.effect("a write to a corrupt row is a 500 without details, and the row stays unchanged", () =>
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
          message: "An unexpected error occurred in the service; quote the requestId when you report it",
          requestId: answer.headers["x-request-id"]
        })
        // The log has the cause under the request id.
        const logged = logs.filter((line) => line.includes(answer.body.requestId) && line.includes("SchemaError"))
        assert.isNotEmpty(logged, json)
        assert.deepStrictEqual(yield* options, before)
      }
      yield* execute(`update meta_tag_definitions set options = '${sound!.options}'::jsonb`)
      const restored = yield* send("PATCH", `/v1/meta-tags/${uuid}`, { body: JSON.stringify({ position: 7 }) })
      assert.strictEqual(restored.status, 200, restored.text)
    })
  )
})
