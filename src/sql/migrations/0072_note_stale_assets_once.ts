import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`create index stale_asset_texts_asset on stale_asset_texts (asset_uuid)`

  // As before, but an asset that waits already is not noted again, or repeated renames of a category would fill the table without limit.
  // Until the rename is committed, the lock keeps the job from taking the asset, whose document would have the old name. An asset that
  // the job has taken is noted.
  yield* sql.unsafe(`
    create or replace function waypost_stale_assets() returns trigger language plpgsql as $$
    begin
      execute format('
        with waiting as (
          select s.asset_uuid from stale_asset_texts s join %1$I l on l.asset_uuid = s.asset_uuid
            where l.%2$I = $1 for share of s skip locked
        )
        insert into stale_asset_texts
          select l.asset_uuid from %1$I l
            where l.%2$I = $1 and not exists (select from waiting w where w.asset_uuid = l.asset_uuid)', tg_argv[0], tg_argv[1])
        using old.uuid;
      return coalesce(new, old);
    end $$`)
})
