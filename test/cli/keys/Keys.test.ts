import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import * as Backups from "../../support/cli/Backups.ts"
import { eventsOf } from "../../support/requests/LogRequests.ts"
import { send } from "../../support/requests/Requests.ts"

const make = Effect.fnUntraced(function* (key?: string) {
  const body = { name: "Key", permissions: ["create:api-keys"] }
  const answer = yield* send("POST", "/v1/api-keys", { body, ...(key && { key }) })
  return answer.body.data as Readonly<Record<"uuid" | "key", string>>
})

layer(TestServer.layer(), { excludeTestServices: true })("waypost keys", (it) => {
  it.effect("keys revoke --descendants also revokes the keys that a key created", () =>
    Effect.gen(function* () {
      const root = yield* make()
      const child = yield* make(root.key)
      const grandchild = yield* make(child.key)
      const [url, folder] = [yield* Backups.current, yield* Backups.dataFolder]
      const revokedAt = Effect.forEach([root, child, grandchild], ({ uuid }) =>
        Effect.map(send("GET", `/v1/api-keys/${uuid}`), ({ body }) => body.data.revokedAt !== undefined)
      )
      // The log, the alerts and KEY_WEIGHTS name a key by its uuid.
      const listed = yield* Backups.command(["keys", "list"], url, folder)
      assert.match(listed.text, new RegExp(`^wp_.+ Key .+ ${root.uuid}$`, "m"))
      const plain = yield* Backups.command(["keys", "revoke", root.uuid], url, folder)
      assert.notInclude(plain.text, "that it created")
      assert.deepStrictEqual(yield* revokedAt, [true, false, false])
      const { code, text } = yield* Backups.command(["keys", "revoke", root.uuid, "--descendants"], url, folder)
      assert.strictEqual(code, 0, text)
      assert.include(text, "and 2 keys that it created")
      assert.deepStrictEqual(yield* revokedAt, [true, true, true])
    })
  )

  it.effect.each(["tomorrow", "2020-01-31", "2020-01-31T09:30:00Z"])("keys create rejects the end %s", (end) =>
    Effect.gen(function* () {
      const args = ["keys", "create", "--name", "CLI", "-p", "read:users", "--expires-at", end]
      const { code, text } = yield* Backups.command(args, yield* Backups.current, yield* Backups.dataFolder)
      const example = `${new Date().getUTCFullYear() + 1}-01-31`
      assert.strictEqual(code, 1)
      assert.include(text, `--expires-at ${end}: expected a time in the future, such as ${example} or ${example}T`)
    })
  )

  it.effect("keys that the command line creates and revokes are events of a command", () =>
    Effect.gen(function* () {
      const [url, folder] = [yield* Backups.current, yield* Backups.dataFolder]
      const { events } = yield* eventsOf(
        Effect.gen(function* () {
          const created = yield* Backups.command(["keys", "create", "--name", "CLI", "-p", "read:users"], url, folder)
          const [, uuid] = /Uuid +(\S+)/.exec(created.text)!
          yield* Backups.command(["keys", "revoke", uuid!], url, folder)
        })
      )
      assert.deepStrictEqual(
        events.map(({ actor, record, type }) => [type, record.label, actor.type]),
        [
          ["apiKey.created", "CLI", "command"],
          ["apiKey.deleted", "CLI", "command"]
        ]
      )
    })
  )
})

layer(TestServer.layer(), { excludeTestServices: true })("waypost keys on the tables of an older version", (it) => {
  it.effect("keys applies no migration and names the command that does", () =>
    Effect.gen(function* () {
      const [url, folder] = [yield* Backups.migrated, yield* Backups.dataFolder]
      const pending = "(select max(migration_id) from waypost_migrations)"
      yield* Backups.ask(url, `delete from waypost_migrations where migration_id = ${pending}`)
      const applied = Backups.ask(url, "select * from waypost_migrations order by 1")
      const before = yield* applied
      for (const args of [["list"], ["create", "--name", "CLI", "-p", "read:users"], ["revoke", "wp_none"]]) {
        const { code, text } = yield* Backups.command(["keys", ...args], url, folder)
        assert.strictEqual(code, 1, text)
        assert.include(text, "are of an older version. Bring them up to date with npx waypost migrate")
        assert.notInclude(text, "wp_")
      }
      assert.deepStrictEqual(yield* applied, before)
    })
  )
})

layer(TestServer.layer(), { excludeTestServices: true })("waypost keys on an empty database", (it) => {
  it.effect("keys list creates no tables and names the database without its password", () =>
    Effect.gen(function* () {
      const url = yield* Backups.empty
      const { code, text } = yield* Backups.command(["keys", "list"], url, yield* Backups.dataFolder)
      assert.strictEqual(code, 1)
      assert.include(text, `There is no installation of Waypost in postgres://`)
      const [row] = yield* Backups.ask(url, "select count(*)::int as tables from pg_tables where schemaname = 'public'")
      assert.strictEqual(row!["tables"], 0)
    })
  )
})
