import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What replaces a part of the source of a function. */
const replacements = [
  // A row whose event was pruned, or is of no type that the webhook receives, is removed, and says nothing about the receiver.
  [
    "waypost_finish_deliveries(jsonb)",
    "max(at) filter (where state <> 'delivered') as failure from outcome group by webhook",
    `max(at) filter (where state <> 'delivered') as failure from outcome where "eventId" is not null group by webhook`
  ],
  [
    "waypost_finish_deliveries(jsonb)",
    "and o.state <> 'delivered' and (c.success is null",
    `and o.state <> 'delivered' and o."eventId" is not null and (c.success is null`
  ]
] as const

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

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
