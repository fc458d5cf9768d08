import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as Introspection from "../../../src/backup/Introspection.ts"
import * as SnapshotImport from "../../../src/backup/SnapshotImport.ts"
import { migrateTo } from "../../../src/sql/Migrations.ts"
import * as TestServer from "../../support/TestServer.ts"
import { ask, awaitLock, clientOf, current, empty } from "../../support/cli/Backups.ts"

layer(TestServer.layer(), { excludeTestServices: true })("restores", (it) => {
  it.effect("a restore fails instead of replacing rows when a service migrates the database concurrently", () =>
    Effect.gen(function* () {
      const [target, url] = [yield* empty, yield* current]
      const migrations = yield* Effect.provide(Introspection.applied, clientOf(url))
      const load = SnapshotImport.load({
        migrations,
        tables: [],
        sequences: [],
        resumesWebhooks: true,
        rowsOf: () => Stream.empty
      })
      const restoring = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* migrateTo(0)
        return yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* migrateTo()
            const restoring = yield* Effect.forkScoped(Effect.exit(Effect.provide(load, clientOf(target))))
            yield* awaitLock(target, "AccessShareLock")
            yield* sql`insert into groups (uuid, name) values (gen_random_uuid(), 'Theirs')`
            return restoring
          })
        )
      }).pipe(Effect.provide(clientOf(target)))
      assert.match(String(yield* Fiber.join(restoring)), /has records: the table groups is not empty/)
      assert.deepStrictEqual(yield* ask(target, "select name from groups"), [{ name: "Theirs" }])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
