import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { ask, command, current, dataFolder, migrated } from "../../support/cli/Backups.ts"
import { create, send } from "../../support/requests/Requests.ts"
import { createWebhook, path, receiver } from "../../support/requests/WebhookRequests.ts"
import * as TestServer from "../../support/TestServer.ts"
import { eventually } from "../../support/Until.ts"

const folder = mkdtempSync(join(tmpdir(), "waypost-webhooks-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

layer(TestServer.layer(), { excludeTestServices: true })("webhooks and the log", (it) => {
  it.effect("a replay to the first webhook sends what was logged before it", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver
      const record = yield* create()
      yield* eventually("the event", send("GET", `/v1/events?record=${record}`), ({ body }) => body.data.length > 0)
      const { uuid } = yield* createWebhook({ url, types: ["location.created"] })
      const { body } = yield* send("POST", `${path}/${uuid}/replay`, { body: { since: "2026-01-01T00:00:00.000Z" } })
      assert.deepStrictEqual(body.data, { events: 1 })
      yield* eventually(
        "it has arrived",
        Effect.sync(() => received.length),
        (count) => count > 0
      )
      assert.strictEqual(received[0]!.json.data.record.uuid, record)
      yield* send("DELETE", `${path}/${uuid}`)
    })
  )

  it.effect("webhooks are paused after a restore, by the command, unless they are to be resumed", () =>
    Effect.gen(function* () {
      const { uuid } = yield* createWebhook({ url: "http://127.0.0.1:4999", types: ["post.*"] })
      yield* eventually("the event", send("GET", `/v1/events?record=${uuid}`), ({ body }) => body.data.length > 0)
      const backup = join(folder, "backup")
      const saved = yield* command(["backup", backup], yield* current, yield* dataFolder)
      assert.strictEqual(saved.code, 0, saved.text)
      for (const [flags, state] of [
        [[], "paused"],
        [["--resume-webhooks"], "active"]
      ] as const) {
        const target = yield* migrated
        const { code, text } = yield* command(["restore", backup, ...flags], target, join(folder, state))
        assert.strictEqual(code, 0, text)
        const [row] = yield* ask(
          target,
          `select state, (select actor->>'type' from events where record_uuid = uuid and action = 'updated') as actor,
            waypost_resume_position(uuid) is not null as resumes from webhooks`
        )
        assert.deepStrictEqual(row, { state, actor: state === "paused" ? "command" : null, resumes: true })
      }
    })
  )
})
