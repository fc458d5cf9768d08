import { PgClient } from "@effect/sql-pg"
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { readdirSync, readFileSync } from "node:fs"
import { startErrorMessage } from "../../src/app/Startup.ts"
import { migrate, migrateTo, migrationTables, unsuitable } from "../../src/sql/Migrations.ts"
import { lastJobMigration } from "../../src/sql/connections/JobQueue.ts"
import { Database, Sql } from "../../src/sql/Sql.ts"
import * as Postgres from "../support/Postgres.ts"
import { settings } from "../support/TestServer.ts"
import { eventually } from "../support/Until.ts"

const folder = new URL("../../src/sql/migrations/", import.meta.url)
const files = readdirSync(folder).toSorted()

const empty = Postgres.created("template template0 encoding 'UTF8'")

/** A database that tests migrate further and further, and copy. */
class Base extends Context.Service<Base, Effect.Success<typeof empty>>()("waypost/test/Base") {}

/** A new database with the migrations up to a number. The tests ask for ever later ones, so that each migration runs once. */
const migratedTo = Effect.fnUntraced(function* (last: number) {
  const base = yield* Base
  const { pooled } = yield* Sql
  yield* Effect.provide(migrateTo(last), PgClient.layer({ ...base, maxConnections: 1 }))
  // A pooler keeps its connections, and a database with connections cannot be copied.
  yield* pooled`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${base.database}`
  return yield* Postgres.created(Postgres.templated(base.database))
})

/** All objects of a schema, in a comparable form. */
const schemaOf = (database: PgClient.PgClientConfig) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = yield* sql`select table_name, column_name, data_type, is_nullable, column_default, collation_name
      from information_schema.columns where table_schema = 'public' order by 1, 2`
    const constraints = yield* sql<{
      readonly name: string
    }>`select conname as name, pg_get_constraintdef(oid) as definition
      from pg_constraint where connamespace = 'public'::regnamespace order by 1`
    const indexes = yield* sql<{
      readonly name: string
    }>`select indexname as name, indexdef from pg_indexes where schemaname = 'public' order by 1`
    const triggers =
      yield* sql`select tgrelid::regclass::text as table, tgname, pg_get_triggerdef(oid) as definition from pg_trigger where not tgisinternal order by 1, 2`
    const functions =
      yield* sql`select proname, pg_get_functiondef(oid) as definition from pg_proc where pronamespace = 'public'::regnamespace and proname like 'waypost%' and prokind <> 'a' order by 1`
    const applied = yield* sql<{
      readonly migration_id: number
      readonly name: string
    }>`select migration_id, name from waypost_migrations order by 1`
    return { columns, constraints, indexes, triggers, functions, applied }
  }).pipe(Effect.provide(PgClient.layer({ ...database, maxConnections: 1 })))

const services = Layer.effect(Base, empty).pipe(
  Layer.provideMerge(Postgres.sql),
  Layer.provideMerge(settings()),
  Layer.provideMerge(NodeServices.layer)
)

layer(services, { excludeTestServices: true })("migrations", (it) => {
  it("migration files are named NNNN_name.ts and numbered from 1 without gaps", () => {
    assert.isNotEmpty(files)
    for (const [index, file] of files.entries()) {
      assert.match(file, /^\d{4}_[a-z]+(?:_[a-z0-9]+)*\.ts$/)
      assert.strictEqual(Number(file.slice(0, 4)), index + 1)
    }
  })

  it.effect(
    "a server that is too old, and a database whose encoding is not UTF8, are rejected before the first migration",
    () =>
      Effect.gen(function* () {
        const server = { database: "waypost", encoding: "UTF8", version: "15.13 (Debian 15.13-0+deb12u1)" }
        assert.isUndefined(unsuitable(server))
        assert.strictEqual(
          unsuitable({ ...server, version: "13.21" }),
          "the server is PostgreSQL 13.21; Waypost needs 15 or newer"
        )
        const database = yield* Postgres.created("template template0 encoding 'SQL_ASCII' locale 'C'")
        const error = yield* Effect.flip(Effect.provideService(migrate, Database, database))
        assert.strictEqual(
          startErrorMessage(error),
          `DATABASE_URL: the database ${database.database} has the encoding SQL_ASCII; create it with encoding 'UTF8' locale 'C.UTF-8' template template0`
        )
      }).pipe(Effect.scoped)
  )

  it.effect("three concurrent migrations give one schema, and a further run changes nothing", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 2; round++) {
        const database = yield* empty
        const run = Effect.provideService(migrate, Database, database)
        const applied = yield* Effect.all([run, run, run], { concurrency: "unbounded" })
        assert.sameMembers(
          applied.map((done) => done.length),
          [files.length, 0, 0]
        )
        const schema = yield* schemaOf(database)
        assert.deepStrictEqual(
          schema.applied.map(({ migration_id: id, name }) => `${String(id).padStart(4, "0")}_${name}.ts`),
          files
        )
        assert.deepStrictEqual(yield* run, [])
        assert.deepStrictEqual(yield* schemaOf(database), schema)
        assert.deepStrictEqual(yield* schemaOf(yield* Database), schema)
      }
    })
  )

  it.effect("the migrations of the job queue end with the one that a start looks for", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      assert.deepStrictEqual(yield* pooled`select max(migration_id) as last from ${pooled(migrationTables.jobs)}`, [
        { last: lastJobMigration }
      ])
    })
  )

  it.effect("a start without pending migrations does not wait for a backup", () =>
    Effect.gen(function* () {
      const database = yield* Postgres.created(Postgres.templated())
      const run = Effect.provideService(migrate, Database, database)
      const during = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        return yield* sql.withTransaction(
          Effect.andThen(
            sql`lock table ${sql(migrationTables.waypost)}, ${sql(migrationTables.jobs)} in access share mode`,
            Effect.timeout(run, "2 minutes")
          )
        )
      }).pipe(Effect.provide(PgClient.layer({ ...database, maxConnections: 1 })))
      assert.deepStrictEqual(during, [])
    })
  )

  it.effect(
    "a migration that waits for a table of an open transaction keeps no other table from reads, is logged, and then succeeds",
    () =>
      Effect.gen(function* () {
        const lines: Array<string> = []
        const collect = Logger.make(({ message }) => void lines.push(String(message)))
        const on = PgClient.layer({ ...(yield* migratedTo(48)), maxConnections: 1 })
        const applied = yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const migrating = yield* Effect.gen(function* () {
            yield* sql`select from posts`
            // It drops indexes of locations, users and posts.
            const migrating = yield* Effect.forkChild(Effect.provide(migrateTo(49), Layer.fresh(on)))
            yield* eventually(
              "the migration waits for posts",
              sql<{ readonly waits: number }>`select count(*)::int as waits from pg_locks
              where not granted and relation = 'posts'::regclass`,
              ([row]) => row!.waits === 1
            )
            const read = Effect.flatMap(SqlClient.SqlClient, (other) =>
              other.withTransaction(Effect.andThen(other`set local lock_timeout = '30s'`, other`select from locations`))
            )
            yield* Effect.provide(read, Layer.fresh(on))
            return migrating
          }).pipe(sql.withTransaction)
          return yield* Fiber.join(migrating)
        }).pipe(Effect.provide([on, Logger.layer([collect])]))
        assert.deepStrictEqual(
          applied.map(([id]) => id),
          [49]
        )
        assert.include(
          lines.join("\n"),
          "Migration 49 does not get a table that requests or a vacuum use, and tries again"
        )
      })
  )

  it.effect(
    "a migration that does not get a table also waits for longer than deadlock_timeout, after which PostgreSQL ends an autovacuum of it",
    () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const database = yield* migratedTo(48)
        yield* pooled.unsafe(`alter database ${database.database} set deadlock_timeout = '20s'`)
        const on = PgClient.layer({ ...database, maxConnections: 1 })
        const applied = yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const migrating = yield* sql.withTransaction(
            Effect.gen(function* () {
              // The lock that a vacuum has.
              yield* sql`lock table posts in share update exclusive mode`
              const migrating = yield* Effect.forkChild(Effect.provide(migrateTo(49), Layer.fresh(on)))
              yield* eventually(
                "the migration has waited for posts for much longer than the short attempts",
                sql<{ readonly waits: number }>`select count(*)::int as waits from pg_locks
                  where not granted and relation = 'posts'::regclass and waitstart < clock_timestamp() - interval '5 seconds'`,
                ([row]) => row!.waits === 1
              )
              return migrating
            })
          )
          return yield* Fiber.join(migrating)
        }).pipe(Effect.provide(on))
        assert.deepStrictEqual(
          applied.map(([id]) => id),
          [49]
        )
      })
  )

  it.effect("reads of locations do not wait while migration 55 builds an index of them", () =>
    Effect.gen(function* () {
      const locks = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`create table locks (mode text)`
        yield* sql.unsafe(`
          create function note_locks() returns event_trigger language plpgsql as $$ begin
            insert into locks select mode from pg_locks where relation = 'locations'::regclass and pid = pg_backend_pid();
          end $$`)
        yield* sql`
          create event trigger note_locks on ddl_command_end when tag in ('CREATE INDEX') execute function note_locks()`
        yield* migrateTo(55)
        return yield* sql<{ readonly mode: string }>`select distinct mode from locks`
      }).pipe(Effect.provide(PgClient.layer({ ...(yield* migratedTo(54)), maxConnections: 1 })))
      const modes = locks.map(({ mode }) => mode)
      assert.include(modes, "ShareLock")
      assert.notInclude(modes, "AccessExclusiveLock")
    }).pipe(Effect.scoped)
  )

  it.effect(
    "a migration has the time that it takes where the role has the limits of the service, and waits for others that migrate",
    () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const database = yield* migratedTo(60)
        const on = PgClient.layer({ ...database, maxConnections: 1 })
        const limits = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"]
        for (const limit of limits) yield* pooled.unsafe(`alter database ${database.database} set ${limit} = '2s'`)
        const run = Effect.provideService(migrate, Database, database)
        const later = files.length - 60
        for (const [mode, waits, applied] of [
          ["access share", "AccessExclusiveLock", later],
          ["access exclusive", "AccessShareLock", 0]
        ] as const) {
          const migrating = yield* Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            for (const limit of limits) yield* sql`set ${sql.literal(limit)} = 0`
            return yield* sql.withTransaction(
              Effect.gen(function* () {
                yield* sql`lock table waypost_migrations in ${sql.literal(mode)} mode`
                const migrating = yield* Effect.forkChild(run)
                yield* eventually(
                  "the migration has waited for longer than the timeout",
                  sql<{ readonly waits: number }>`select count(*)::int as waits from pg_locks
                  where not granted and relation = 'waypost_migrations'::regclass and mode = ${waits}
                    and waitstart < clock_timestamp() - interval '3 seconds'`,
                  ([row]) => row!.waits === 1
                )
                return migrating
              })
            )
          }).pipe(Effect.provide(Layer.fresh(on)))
          assert.lengthOf(yield* Fiber.join(migrating), applied)
        }
      })
  )

  it.effect(
    "videos that failed on machines without an ffmpeg are pending again, and other files that failed are not",
    () =>
      Effect.gen(function* () {
        const states = yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`
          insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name, processing, rendered_at)
            select gen_random_uuid(), '', '', type, 1, '', '', '', state, now()
            from unnest('{image/png,video/mp4}'::text[]) type, unnest('{ready,failed}'::text[]) state`
          yield* migrateTo(61)
          return yield* sql`select mime_type as type, processing, rendered_at is not null as rendered from files order by 1, 2`
        }).pipe(Effect.provide(PgClient.layer({ ...(yield* migratedTo(60)), maxConnections: 1 })))
        assert.deepStrictEqual(states, [
          { type: "image/png", processing: "failed", rendered: true },
          { type: "image/png", processing: "ready", rendered: true },
          { type: "video/mp4", processing: "pending", rendered: false },
          { type: "video/mp4", processing: "ready", rendered: true }
        ])
      }).pipe(Effect.scoped)
  )

  it.effect(
    "rotated keys have the first key of their line, also those that the version before rotates, without a trace in the log",
    () =>
      Effect.gen(function* () {
        const { expected, lines, logged, newest } = yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const uuidOf = (key: number) => `00000000-0000-0000-0000-${String(key).padStart(12, "0")}`
          const insert = (from: number, to: number, last: number) => sql`
          insert into api_keys (uuid, id, prefix, secret_hash, name, permissions, replaced_by_uuid)
            select ('00000000-0000-0000-0000-' || lpad(key::text, 12, '0'))::uuid, key::text, '', '', '', '{}',
              case when key < ${last}::int then ('00000000-0000-0000-0000-' || lpad((key + 1)::text, 12, '0'))::uuid end
            from generate_series(${from}::int, ${to}::int) key`
          // A line of 151 keys, one of two and a key that was never rotated.
          yield* insert(0, 150, 150)
          yield* insert(200, 201, 201)
          yield* insert(300, 300, 300)
          const before = yield* sql`select count(*)::int as count from pending_changes`
          yield* migrateTo()
          assert.deepStrictEqual(yield* sql`select count(*)::int as count from pending_changes`, before)
          yield* insert(151, 151, 151)
          yield* sql`update api_keys set replaced_by_uuid = ${uuidOf(151)}::uuid, expires_at = now() where uuid = ${uuidOf(150)}::uuid`
          const expected = [
            ...Array.from({ length: 152 }, (_, key) => [key === 0 ? null : uuidOf(0), key]),
            [null, 0],
            [uuidOf(200), 1],
            [null, 0]
          ]
          const lines = yield* sql<{ readonly first: string | null; readonly rotations: number }>`
          select first_uuid as first, rotations from api_keys order by uuid`
          const [newest] = yield* sql<{ readonly after: object }>`
          select after from pending_changes where action = 'updated' order by id desc limit 1`
          const logged = yield* sql`
          select from pending_changes where coalesce(before, '{}') || coalesce(after, '{}') ?| '{first_uuid,rotations,was_expiring}'`
          return { expected, lines, logged, newest }
        }).pipe(Effect.provide(PgClient.layer({ ...(yield* migratedTo(62)), maxConnections: 1 })))
        assert.deepStrictEqual(
          lines.map(({ first, rotations }) => [first, rotations]),
          expected
        )
        assert.deepStrictEqual(logged, [])
        assert.hasAllKeys(newest!.after, ["expires_at", "replaced_by_uuid"])
      }).pipe(Effect.scoped)
  )

  it.effect("completed uploads whose files were deleted are removed, and no others", () =>
    Effect.gen(function* () {
      const left = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into api_keys (uuid, id, prefix, secret_hash, name, permissions) values (gen_random_uuid(), '', '', '', '', '{}')`
        yield* sql`
          insert into upload_sessions
              (uuid, api_key_uuid, file_uuid, status, file_name, file_size, content_type, part_size, number_of_parts)
            select gen_random_uuid(), k.uuid, gen_random_uuid(), status, file, 1, '', 1, 1
            from api_keys k, unnest('{open,completed,aborted,expired}'::text[]) status, unnest('{kept,deleted}'::text[]) file`
        yield* sql`
          insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name)
            select file_uuid, '', '', '', 1, '', '', '' from upload_sessions where status = 'completed' and file_name = 'kept'`
        yield* migrateTo(65)
        return yield* sql`
          select status, array_agg(file_name order by file_name desc) as files from upload_sessions group by 1 order by 1`
      }).pipe(Effect.provide(PgClient.layer({ ...(yield* migratedTo(64)), maxConnections: 1 })))
      const both = ["kept", "deleted"]
      assert.deepStrictEqual(left, [
        { status: "aborted", files: both },
        { status: "completed", files: ["kept"] },
        { status: "expired", files: both },
        { status: "open", files: both }
      ])
    }).pipe(Effect.scoped)
  )

  it.effect(
    "postal codes without letters and digits are claimed no longer, and the quality of their locations is assessed again",
    () =>
      Effect.gen(function* () {
        const [claimed, stale] = yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`
          insert into locations (uuid, name, identifier, postal_codes) values
            ('00000000-0000-0000-0000-000000000001', '', 'a', '{--,M1}'), ('00000000-0000-0000-0000-000000000002', '', 'b', '{M1}')`
          yield* sql`delete from stale_location_quality`
          yield* migrateTo(68)
          return [
            yield* sql`select code, count(*)::int as claims from location_postal_codes group by code`,
            yield* sql`select location_uuid as uuid from stale_location_quality`
          ]
        }).pipe(Effect.provide(PgClient.layer({ ...(yield* migratedTo(67)), maxConnections: 1 })))
        assert.deepStrictEqual(claimed, [{ code: "M1", claims: 2 }])
        assert.deepStrictEqual(stale, [{ uuid: "00000000-0000-0000-0000-000000000001" }])
      }).pipe(Effect.scoped)
  )

  it.effect("the bytes of meta tags that exist count in their limit", () =>
    Effect.gen(function* () {
      const counted = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`
          insert into meta_tag_definitions
              (uuid, key, translations, type, required, filterable, searchable, editable, options, position)
            select gen_random_uuid(), 'tag' || n, '[]', 'select', false, false, false, true,
              jsonb_build_array(jsonb_build_object('key', repeat('a', 1000))), 0 from generate_series(1, 3) n`
        yield* migrateTo(70)
        yield* sql`delete from meta_tag_definitions where key = 'tag3'`
        return yield* sql`
          select sum(delta)::int as bytes from row_counts where relation = 'meta_tag_definitions.bytes'`
      }).pipe(Effect.provide(PgClient.layer({ ...(yield* migratedTo(69)), maxConnections: 1 })))
      const columns = `[[], null, null, null, [{"key": "${"a".repeat(1000)}"}]]`
      assert.deepStrictEqual(counted, [{ bytes: 2 * (1024 + columns.length) }])
    }).pipe(Effect.scoped)
  )

  it.effect("every constraint that the repositories map to an error exists", () =>
    Effect.gen(function* () {
      const { constraints, indexes } = yield* schemaOf(yield* Database)
      // Trigger functions raise violations with their own constraint names.
      const { pooled } = yield* Sql
      const functions = yield* pooled<{ readonly source: string }>`select prosrc as source from pg_proc
        where pronamespace = 'public'::regnamespace and prosrc like '%check_violation%'`
      const raised = functions.flatMap(({ source }) =>
        Array.from(source.matchAll(/constraint = '(\w+)'/g), ([, name]) => ({ name: name! }))
      )
      const existing = new Set([...constraints, ...indexes, ...raised].map(({ name }) => name))
      const repositories = new URL("../../repositories/", folder)
      const sources = readdirSync(repositories, { recursive: true, encoding: "utf8" }).filter((file) =>
        file.endsWith(".ts")
      )
      const matched = sources.flatMap((file) => {
        const mapping = /byConstraint\(\{([^]*?)\}\)/g
        return Array.from(
          readFileSync(new URL(file, repositories), "utf8").matchAll(mapping),
          ([, body]) => body!
        ).flatMap((body) => Array.from(body.matchAll(/^\s*(\w+):/gm), ([, name]) => name!))
      })
      assert.includeMembers(matched, ["locations_identifier_key", "locations_coordinates_complete"])
      assert.deepStrictEqual(
        matched.filter((name) => !existing.has(name)),
        []
      )
    })
  )

  it.effect("locations are copied without a search path, as pg_restore and logical replication copy them", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const [copied] = yield* pooled.withTransaction(
        Effect.gen(function* () {
          // They write rows before there are triggers, and create the indexes afterwards.
          yield* pooled`create table copied (like locations including all)`
          yield* pooled`set local search_path = ''`
          yield* pooled`
            insert into public.copied (uuid, name, identifier, coordinates, address, timezone, opening_hours, special_hours)
              values (gen_random_uuid(), '', '', '{"latitude": 52, "longitude": 5}', '{"zipcode": "3511 AB"}', 'Europe/Amsterdam',
                '[{"day": 1, "opens": "09:00", "closes": "17:00"}]', '[{"date": "2026-01-01", "periods": []}]')`
          return yield* pooled`select num_nulls(sphere_position, zipcode_compared, week_minutes, special_minutes) as missing
            from public.copied`
        })
      )
      assert.deepStrictEqual(copied, { missing: 0 })
    })
  )

  it.effect("waypost_fold folds case independently of the locale of the database", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const pairs = [
        ["ISTANBUL", "istanbul"],
        ["ΟΔΥΣΣΕΥΣ", "οδυσσευς"],
        ["ΣΑΣ", "σασ"],
        ["ÉTÉ", "été"],
        ["STRAẞE", "straße"],
        ["ǄEP", "ǆep"],
        ["İ", "i̇"],
        ["Ⅷ", "ⅷ"],
        ["𐐀", "𐐨"]
      ]
      for (const [upper, lower] of pairs) {
        assert.deepStrictEqual(
          yield* pooled`select waypost_fold(${upper}) = waypost_fold(${lower}) as same`,
          [{ same: true }],
          upper
        )
      }
      assert.deepStrictEqual(
        yield* pooled`select waypost_fold('I') = 'i' as plain, waypost_fold('e') = waypost_fold('é') as accent`,
        [{ plain: true, accent: false }]
      )
    })
  )
})
