import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What replaces a part of the source of a function. */
const replacements = [
  [
    "waypost_queue_deliveries(int)",
    "perform from webhooks where state = 'active' order by uuid for no key update;",
    "perform from webhooks order by uuid for no key update;"
  ],
  [
    "waypost_queue_deliveries(int)",
    "if found and head < stop then",
    "if head < stop and exists (select from webhooks where state = 'active') then"
  ]
] as const

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // `waypost_queue_deliveries` locks all webhooks, and not only those that are active: it waits for a transaction that activates
  // one, and delivers to it the events that were sealed meanwhile.
  for (const [name, before, after] of replacements) {
    yield* sql.unsafe(`
      do $do$
      declare
        source text := pg_get_functiondef('${name}'::regprocedure);
      begin
        if strpos(source, $part$${before}$part$) = 0 then raise exception '${name} has another source'; end if;
        execute replace(source, $part$${before}$part$, $part$${after}$part$);
      end $do$`)
  }
})
