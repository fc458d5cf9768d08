import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The columns of a key that the log leaves out. */
const unlogged = "{id,secret_hash,last_used_at,first_uuid,rotations,was_expiring}"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The first key of the line of rotations that a key is in, null for the first one itself, and how many rotations are between them.
  yield* sql`alter table api_keys add column first_uuid uuid, add column rotations int not null default 0`

  // Whether a key had an expiry of its own when it was replaced. Of keys that were replaced before, it is not known.
  yield* sql`alter table api_keys add column was_expiring boolean not null default false`

  // As before, but without the new columns.
  for (const [event, rows] of [
    ["insert", "new table as new_rows"],
    ["update", "old table as old_rows new table as new_rows"]
  ] as const) {
    yield* sql.unsafe(`
      create or replace trigger logged_${event} after ${event} on api_keys referencing ${rows}
        for each statement execute function waypost_log_key('apiKey', '${unlogged}')`)
  }

  // A trigger, so that rotations by the version before have the columns too, while both run.
  yield* sql.unsafe(`
    create function waypost_key_replaced() returns trigger language plpgsql as $$
    begin
      new.was_expiring := old.expires_at is not null;
      update api_keys set first_uuid = coalesce(new.first_uuid, new.uuid), rotations = new.rotations + 1
        where uuid = new.replaced_by_uuid;
      return new;
    end $$`)
  yield* sql`
    create trigger replaced before update of replaced_by_uuid on api_keys for each row
      when (old.replaced_by_uuid is null and new.replaced_by_uuid is not null) execute function waypost_key_replaced()`

  // Whether a key of a line is active is read off the index, however many of them have ended.
  yield* sql`
    create index api_keys_active on api_keys (coalesce(first_uuid, uuid), coalesce(expires_at, 'infinity'))
      where revoked_at is null`

  yield* sql`
    with recursive line (uuid, successor, first, rotations) as (
      select k.uuid, k.replaced_by_uuid, k.uuid, 0 from api_keys k
        where k.replaced_by_uuid is not null and not exists (select from api_keys p where p.replaced_by_uuid = k.uuid)
      union all
      select k.uuid, k.replaced_by_uuid, line.first, line.rotations + 1 from line join api_keys k on k.uuid = line.successor
    ) update api_keys k set first_uuid = line.first, rotations = line.rotations
      from line where k.uuid = line.uuid and line.rotations > 0`
})
