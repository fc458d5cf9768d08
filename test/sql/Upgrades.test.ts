import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { readdirSync, readFileSync } from "node:fs"
import { migrateTo } from "../../src/sql/Migrations.ts"
import { breakingChanges, type Shape, shapeQuery } from "../support/contract/SchemaChanges.ts"
import { clientOf, current, empty } from "../support/cli/Backups.ts"
import * as Postgres from "../support/Postgres.ts"
import * as TestServer from "../support/TestServer.ts"

/** The last migration of the latest release, which `npm run release` writes. */
const released: { readonly last: number } = JSON.parse(
  readFileSync(new URL("../../migrations.released.json", import.meta.url), "utf8")
)

const shape = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql.unsafe<{ readonly name: string; readonly form: string }>(shapeQuery)
  return Object.fromEntries(rows.map(({ form, name }) => [name, form])) satisfies Shape
})

/** Changes that a release has prepared, by not using what they remove; each with that release, or with why it is allowed without one. */
const prepared: Readonly<Record<string, string>> = {
  "rule meta_tag_definitions_bytes of meta_tag_definitions may reject what the version before writes: raised by a trigger":
    "the guide to upgrading names this exception",
  'rule locations_timezone_known of locations was "CHECK (waypost_knows_zone(timezone))" and is "raised by a trigger"':
    "the trigger rejects less than the rule did",
  "rule asset_words_pkey of asset_words is gone": "only functions of the database write the table"
}

/** Changes that would fail requests of the version before while both run, each with what is reported. */
const planted = [
  ["drop table idempotent_answers cascade", /^table idempotent_answers is gone$/],
  ["alter table groups drop column name cascade", /^column groups\.name is gone$/],
  ["alter table groups rename column name to title", /^column groups\.name is gone$/],
  ["alter table groups alter column name type varchar(50)", /^column groups\.name was "text required" and is/],
  ["alter table groups add column colour text not null", /^column groups\.colour has no default$/],
  ["alter table locations alter column locale set not null", /^column locations\.locale was "text null" and is/],
  ["alter table groups add constraint short check (length(name) < 50)", /^rule short of groups may reject/],
  [
    `do $do$ begin
      create function reject() returns trigger language plpgsql as $$ begin
        raise exception '' using errcode = 'check_violation', constraint = 'short';
      end $$;
      create trigger reject before insert on groups for each row execute function reject();
    end $do$`,
    /^rule short of groups may reject/
  ],
  ["create unique index one_name on users (lower(username), role)", /^unique index one_name of users may reject/],
  ["drop function waypost_index_asset cascade", /^function waypost_index_asset\(.*\) is gone$/]
] as const

/** Changes that the version before does not notice. */
const harmless = [
  "create table colours (uuid uuid primary key, name text not null unique)",
  "alter table groups add column colour text",
  "alter table groups add column colour text not null default 'red'",
  "alter table groups alter column name drop not null",
  "create index more on groups (name)"
] as const

layer(Postgres.sql.pipe(Layer.provideMerge(TestServer.settings())), { excludeTestServices: true })("upgrades", (it) => {
  const rolledBack = (statement: string) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const before = yield* shape
      const after = yield* sql
        .withTransaction(
          Effect.gen(function* () {
            yield* Effect.orDie(sql.unsafe(statement))
            return yield* Effect.fail(yield* shape)
          })
        )
        .pipe(Effect.flip)
      return breakingChanges(before, after as Shape)
    })

  it.effect("the migrations since the latest release keep all that the released version uses", () =>
    Effect.gen(function* () {
      const changes = yield* Effect.gen(function* () {
        yield* migrateTo(released.last)
        const before = yield* shape
        yield* migrateTo()
        return breakingChanges(before, yield* shape).filter((change) => !(change in prepared))
      }).pipe(Effect.provide(clientOf(yield* empty)))
      assert.deepStrictEqual(changes, [])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it("the changes name each migration since the latest release that builds an index of an existing table", () => {
    const folder = new URL("../../src/sql/migrations/", import.meta.url)
    const changes = readFileSync(new URL("../../CHANGELOG.md", import.meta.url), "utf8").split("\n- ")
    const unnamed = readdirSync(folder).filter((file) => {
      const source = readFileSync(new URL(file, folder), "utf8")
      const indexed = Array.from(source.matchAll(/create (?:unique )?index \w+\s+on (\w+)/g), ([, table]) => table)
      const isExisting = indexed.some((table) => !new RegExp(`create table ${table}\\b`).test(source))
      const number = file.slice(0, 4)
      return (
        Number(number) > released.last &&
        isExisting &&
        !changes.some((change) => change.includes(`Migration ${number}`) && change.includes("index"))
      )
    })
    assert.deepStrictEqual(unnamed, [])
  })

  it.effect("changes of the tables that fail the released version are reported, and others are not", () =>
    Effect.gen(function* () {
      yield* Effect.gen(function* () {
        for (const [statement, expected] of planted) {
          const found = yield* rolledBack(statement)
          assert.isTrue(
            found.some((change) => expected.test(change)),
            `${statement}: ${found.join("; ")}`
          )
        }
        for (const statement of harmless) assert.deepStrictEqual(yield* rolledBack(statement), [], statement)
      }).pipe(Effect.provide(clientOf(yield* current)))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
