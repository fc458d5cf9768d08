import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { quoted, type Table } from "./Introspection.ts"

/**
 * Empties the tables, and keeps triggers from running, references from being looked at and indexes from growing until the
 * statements it gives are run. Triggers would count rows again that the counts count already; references may go round in
 * circles; and both they and indexes are faster made for all rows at once.
 */
export const dropIndexes = Effect.fnUntraced(function* (tables: ReadonlyArray<Table>) {
  const sql = yield* SqlClient.SqlClient
  const names = tables.map(({ name }) => name)
  const statements = yield* sql.unsafe<{ readonly drop: string; readonly restore: string }>(
    `(select format('drop index %s', i.indexrelid::regclass) as drop, pg_get_indexdef(i.indexrelid) as restore
      from pg_index i join pg_class c on c.oid = i.indrelid
      where c.relnamespace = current_schema()::regnamespace and c.relname = any ($1::text[])
        and not exists (select from pg_constraint where conindid = i.indexrelid)
      order by i.indexrelid)
    union all
    select format('alter table %s disable trigger %I', t.tgrelid::regclass, t.tgname),
        format('alter table %s enable %s trigger %I', t.tgrelid::regclass,
          case t.tgenabled when 'A' then 'always' when 'R' then 'replica' else '' end, t.tgname)
      from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where c.relnamespace = current_schema()::regnamespace and c.relname = any ($1::text[])
        and not t.tgisinternal and t.tgenabled <> 'D'
    union all
    (select format('alter table %s drop constraint %I', f.conrelid::regclass, f.conname),
        format('alter table %s add constraint %I %s', f.conrelid::regclass, f.conname, pg_get_constraintdef(f.oid))
      from pg_constraint f join pg_class c on c.oid = f.conrelid
      where c.relnamespace = current_schema()::regnamespace and c.relname = any ($1::text[])
        and f.contype = 'f' and f.conparentid = 0
      order by f.oid)`,
    [names]
  )
  yield* Effect.forEach(statements, ({ drop }) => sql.unsafe(drop), { discard: true })
  yield* sql.unsafe(`truncate ${names.map(quoted).join(", ")}`)
  return statements.map(({ restore }) => restore)
})
