import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const before = "where o.webhook = any (concerned)"

/**
 * Failed attempts are recorded again after the answer to the first time was lost. Then what waits for its next attempt has had this
 * one. Other attempts end what waits.
 */
const after = `${before}
            and (o.state <> 'failed' or not exists (select from webhook_queue q where q.id = o.id and q.attempts >= o.attempt))`

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql.unsafe(`
    do $do$
    declare
      source text := pg_get_functiondef('waypost_finish_deliveries(jsonb)'::regprocedure);
    begin
      if strpos(source, $part$${before}$part$) = 0 then raise exception 'The function has another source'; end if;
      execute replace(source, $part$${before}$part$, $part$${after}$part$);
    end $do$`)
})
