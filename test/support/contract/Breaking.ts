import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"

/**
 * Takes away all that operations read and write. What it takes to know a key stays, and so do the jobs: a queue tries
 * for a minute and a half to give back what it has taken, and the service does not end before.
 */
const statements = [
  `do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = 'public' and tablename !~ '^(api_keys|jobs)' loop
      execute format('alter table %I rename to %I', name, 'gone_' || name);
    end loop;
  end $$`,
  "alter table api_keys rename name to gone",
  "alter table api_keys add constraint unexpected check (revoked_at is null) not valid"
]

/** After this every operation fails with something nobody has thought of. */
export const breakDatabase = Effect.flatMap(Sql, ({ pooled }) =>
  Effect.forEach(statements, (statement) => pooled.unsafe(statement), { discard: true })
)
