import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import { write } from "../../../src/sql/Transactions.ts"

/**
 * Renames everything that operations read and write. The keys stay usable. The jobs stay, because a queue retries for a
 * minute and a half to return what it has taken, which would delay the shutdown.
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

/** Makes every operation fail with an unexpected error. A statement that waits for a job which waits for it is repeated. */
export const breakDatabase = Effect.flatMap(Sql, ({ pooled }) =>
  Effect.forEach(statements, (statement) => write(pooled, pooled.unsafe(statement)), { discard: true })
)
