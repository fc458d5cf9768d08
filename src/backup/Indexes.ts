import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { quoted, type Table } from "./Introspection.ts"

const decode = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ drop: Schema.String, restore: Schema.String })))

/**
 * Empties the tables, drops their indexes and foreign keys, and disables their triggers; the returned statements restore
 * them. Triggers would count rows again that the restored counts include; foreign keys may be circular; and both foreign
 * keys and indexes are built faster for all rows at once.
 */
export const dropIndexes = Effect.fnUntraced(function* (tables: ReadonlyArray<Table>) {
  const sql = yield* SqlClient.SqlClient
  const names = tables.map(({ name }) => name)
  const ofTables = sql`c.relnamespace = current_schema()::regnamespace and c.relname = any (${names}::text[])`
  const rows = yield* sql`
    (select format('drop index %s', i.indexrelid::regclass) as drop, pg_get_indexdef(i.indexrelid) as restore
      from pg_index i join pg_class c on c.oid = i.indrelid
      where ${ofTables} and not exists (select from pg_constraint where conindid = i.indexrelid)
      order by i.indexrelid)
    union all
    select format('alter table %s disable trigger %I', t.tgrelid::regclass, t.tgname),
        format('alter table %s enable %s trigger %I', t.tgrelid::regclass,
          case t.tgenabled when 'A' then 'always' when 'R' then 'replica' else '' end, t.tgname)
      from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where ${ofTables} and not t.tgisinternal and t.tgenabled <> 'D'
    union all
    (select format('alter table %s drop constraint %I', f.conrelid::regclass, f.conname),
        format('alter table %s add constraint %I %s', f.conrelid::regclass, f.conname, pg_get_constraintdef(f.oid))
      from pg_constraint f join pg_class c on c.oid = f.conrelid
      where ${ofTables} and f.contype = 'f' and f.conparentid = 0
      order by f.oid)`
  const statements = yield* Effect.orDie(decode(rows))
  // PostgreSQL composed these statements, with the names quoted.
  yield* Effect.forEach(statements, ({ drop }) => sql.unsafe(drop), { discard: true })
  yield* sql`truncate ${sql.csv(names.map(quoted))}`
  return statements.map(({ restore }) => restore)
})
