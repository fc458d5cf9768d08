import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What replaces a part of the source of the function. */
const replacements = [
  ["hook record;", "moment timestamptz := clock_timestamp();\n      hook record;"],
  ["q.due_at <= clock_timestamp()", "q.due_at <= moment"]
] as const

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // As before, but the function compares with the time at which it began, up to which the index is read. It compared each row with the
  // time at which it was read, so that it read all that waits for a later time: of a webhook whose receiver is down, any number of rows.
  for (const [before, after] of replacements) {
    yield* sql.unsafe(`
      do $do$
      declare
        source text := pg_get_functiondef('waypost_take_deliveries(interval)'::regprocedure);
      begin
        if strpos(source, $part$${before}$part$) = 0 then raise exception 'The function has another source'; end if;
        execute replace(source, $part$${before}$part$, $part$${after}$part$);
      end $do$`)
  }
})
