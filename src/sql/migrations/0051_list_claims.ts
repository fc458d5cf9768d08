import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What `location_quality_keys` has in arrays. An index of rows finds one location after the other, a GIN index all of them
  // first: a lookup took a millisecond when 50,000 locations claimed one code.
  yield* sql`
    create table location_quality_claims (
      claim text not null collate "C",
      location_uuid uuid not null,
      primary key (claim, location_uuid)
    )`
  yield* sql`
    insert into location_quality_claims (claim, location_uuid)
      select distinct claim, location_uuid from location_quality_keys, unnest(claims) claim`
  yield* sql.unsafe(`
    create function waypost_list_claims() returns trigger language plpgsql set enable_seqscan = off as $$
    begin
      if tg_op <> 'INSERT' then
        delete from location_quality_claims where claim = any (old.claims) and location_uuid = old.location_uuid;
      end if;
      if tg_op <> 'DELETE' then
        insert into location_quality_claims (claim, location_uuid) select distinct claim, new.location_uuid from unnest(new.claims) claim;
      end if;
      return null;
    end $$`)
  yield* sql`
    create trigger list_claims after insert or delete on location_quality_keys for each row execute function waypost_list_claims()`
  yield* sql`
    create trigger replace_claims after update on location_quality_keys for each row
      when (old.claims is distinct from new.claims) execute function waypost_list_claims()`
  yield* sql`drop index location_quality_keys_claims`
  yield* sql`drop index location_quality_keys_containing`
  // The version before still writes it.
  yield* sql`alter table location_quality_keys alter column containing set default '{}'`
})
