import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const before = "label, waypost_current_label(type, uuid)) end as label,"

/**
 * The label of a record without a new one in the batch. The default locale, and with it the label of a post or an asset, changes
 * without an event. A record that was deleted since keeps the label of its event before, and so does one whose label a change in or after
 * this batch has replaced.
 */
const after = `case when count(own_label) over (partition by uuid) = 0
                and not exists (select from pending_changes where id > (select max(wanted.last) from wanted)) then
              case type when 'post' then (select p.title from posts p where p.uuid = known.uuid)
                when 'asset' then (select waypost_asset_name(a.translations) from assets a where a.uuid = known.uuid) end
            end, ${before}`

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql.unsafe(`
    do $do$
    declare
      source text := pg_get_functiondef('waypost_seal(int)'::regprocedure);
    begin
      if strpos(source, $part$${before}$part$) = 0 then raise exception 'The function has another source'; end if;
      execute replace(source, $part$${before}$part$, $part$${after}$part$);
    end $do$`)
  // Scans of tables have enormous costs in this function, for which PostgreSQL would compile its statement each time, for seconds.
  yield* sql`alter function waypost_seal(int) set jit = off`
})
