import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const every = "from pending_changes group by"

// A change that is part of what a transaction did to a record is taken with the rest of it, wherever that is.
const oldest = "from (select * from pending_changes order by id limit 4 * batch) oldest group by"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // `waypost_seal` groups the oldest pending changes, and no longer all of them for each batch: of two million changes, as
  // an import by SQL leaves them, a batch of 5,000 took longer than the statement timeout of the service.
  yield* sql.unsafe(`
    do $do$
    declare
      source text := pg_get_functiondef('waypost_seal(int)'::regprocedure);
    begin
      if strpos(source, '${every}') = 0 then raise exception 'waypost_seal has another source'; end if;
      execute replace(source, '${every}', '${oldest}');
    end $do$`)
})
