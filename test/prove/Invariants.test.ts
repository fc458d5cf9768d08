import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Settings } from "../../src/settings/Config.ts"
import { Sql } from "../../src/sql/Sql.ts"
import * as TestServer from "../support/TestServer.ts"
import { createEverything } from "../support/proofs/Everything.ts"
import { report } from "../support/proofs/Figures.ts"
import { count, type Query, violations } from "../support/proofs/Invariants.ts"

/** Runs statements in the transaction of the effect that yields this. */
const query = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const context = yield* Effect.context()
  const ask: Query = (statement) => Effect.runPromiseWith(context)(pooled.unsafe(statement))
  return ask
})
const objects = Effect.map(Settings, ({ DATA_DIR }) => join(DATA_DIR, "files", "objects"))

const withoutCheck = (table: string, name: string, expression: string, statement: string) => [
  `alter table ${table} drop constraint ${name}`,
  statement,
  `alter table ${table} add constraint ${name} check (${expression}) not valid`
]
const withoutIndex = (name: string, statement: string) => [
  `update pg_index set indisready = false, indisvalid = false where indexrelid = '${name}'::regclass`,
  statement
]

/** Violations that no request can cause, and the invariant that must report each. */
const planted: ReadonlyArray<readonly [reportedBy: string, ...statements: ReadonlyArray<string>]> = [
  ["reference user_groups", "insert into user_groups values (gen_random_uuid(), (select uuid from groups limit 1))"],
  ["reference assets_file_uuid_fkey", "update assets set file_uuid = gen_random_uuid()"],
  ["reference products_parent", "update products set parent_uuid = gen_random_uuid() where type = 'variant'"],
  ["reference product_files_module", "delete from product_modules"],
  [
    "check products_visible",
    ...withoutCheck(
      "products",
      "products_visible",
      "visible_from < visible_until",
      "update products set visible_from = now(), visible_until = now() - interval '1 day'"
    )
  ],
  [
    "unique locations_identifier_key",
    ...withoutIndex(
      "locations_identifier_key",
      "insert into locations (uuid, name, identifier) select gen_random_uuid(), name, identifier from locations limit 1"
    )
  ],
  [
    "unique users_email_key",
    ...withoutIndex(
      "users_email_key",
      `insert into users (uuid, username, email, status, role, language_code)
        select gen_random_uuid(), 'x', upper(email), status, role, language_code from users limit 1`
    )
  ],
  ["edited after created posts", "update posts set edited_at = created_at - interval '1 second'"],
  ["edits of locations", "update locations set edited_at = edited_at + interval '1 second'"],
  ["edits of posts", "delete from posts_edits"],
  ["total locations", "insert into row_counts values ('locations', 1)"],
  ["attached exactly", "update files set unattached_since = null where unattached_since is not null"],
  ["attached exactly", "update files set unattached_since = now() where unattached_since is null"],
  ["access lists have", "insert into access_lists values (gen_random_uuid(), 'all', gen_random_uuid())"],
  ["postal codes are those", "insert into location_postal_codes values ('3511AB', 'NL', gen_random_uuid())"],
  ["postal codes are those", "delete from location_postal_codes"],
  ["groups count their members", "update groups set user_count = user_count + 1"],
  ["an asset repeats", "update assets set file_size = file_size + 1"],
  ["an asset has a search text", "delete from asset_texts"],
  ["the status of an upload", "update upload_sessions set status = 'lost'"],
  ["the status of an upload", "update upload_sessions set status = 'open' where status = 'completed'"],
  ["the status of an upload", "update upload_sessions set status = 'completed' where status = 'open'"],
  ["a file belongs to an upload", "delete from upload_sessions"],
  ["no category is its own ancestor", "update asset_categories set parent_uuid = uuid"],
  ["a published or scheduled post", "update posts set status = 'published', published_at = null"],
  ["the times and the successor of a key", "update api_keys set revoked_at = created_at - interval '1 second'"]
]

/** The violations found after statements that run without triggers and references, and are rolled back. */
const violationsAfter = Effect.fnUntraced(function* (statements: ReadonlyArray<string>) {
  const { pooled } = yield* Sql
  return yield* Effect.flip(
    pooled.withTransaction(
      Effect.gen(function* () {
        // Disables triggers and foreign keys.
        yield* pooled.unsafe("set local session_replication_role = replica")
        yield* Effect.forEach(statements, (statement) => pooled.unsafe(statement))
        const ask = yield* query
        return yield* Effect.fail(yield* Effect.promise(() => violations(ask)))
      })
    )
  )
})

layer(TestServer.layer(), { excludeTestServices: true })("invariants of the data", (it) => {
  it.effect("records of every kind violate no invariant", (ctx) =>
    Effect.gen(function* () {
      yield* createEverything
      const [ask, folder] = [yield* query, yield* objects]
      const checked = yield* Effect.promise(() => count(ask))
      const found = yield* Effect.promise(() => violations(ask, folder))
      yield* Effect.promise(() => report(ctx, { "invariants checked": checked, violations: found.length }))
      assert.deepStrictEqual(found, [])
    })
  )

  it.effect.each(planted)("a violation is reported: %s", ([name, ...statements]) =>
    Effect.gen(function* () {
      const found = yield* violationsAfter(statements)
      assert.isArray(found)
      assert.include((found as ReadonlyArray<string>).join("\n"), name)
    })
  )

  it.effect("missing, truncated and changed bytes of files are reported, and no others", () =>
    Effect.gen(function* () {
      const [ask, folder] = [yield* query, yield* objects]
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
        .map((name) => join(folder, name))
        .filter((file) => statSync(file).isFile() && !/\.(?:webp|jpg)$/.test(file))
      assert.isAtLeast(files.length, 3)
      rmSync(files[0]!)
      truncateSync(files[1]!, 1)
      writeFileSync(files[2]!, "x".repeat(statSync(files[2]!).size))
      const found = yield* Effect.promise(() => violations(ask, folder))
      assert.strictEqual(found.length, 3, found.join("\n"))
      for (const what of ["has none", "has another size", "has other bytes"]) assert.include(found.join("\n"), what)
    })
  )
})
